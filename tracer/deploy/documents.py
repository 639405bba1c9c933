"""Launch lines in YAML: compose files, Kubernetes manifests, Helm values and templates, the engine's own
`--config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from . import shell
from .found import SERVE, SERVES, UNKNOWN, Found, Word, release_of, serves, starts
from .templates import UNSAID, plain

PODS = ("containers", "initContainers")
"""Keys of lists of containers as Kubernetes has them: `command` is in place of the image's entry point."""
FLAGS = ("quantization", "kv-cache-dtype", "kv_cache_dtype")
TELLING = re.compile(r"--quantization(?:=.*)?|--kv[-_]cache[-_]dtype(?:=.*)?", re.S)
"""Words that are options of an engine wherever they stand."""
BESIDE = {
    "dtype": "--dtype",
    "tensorParallelSize": "--tensor-parallel-size",
    "kvCacheDtype": "--kv-cache-dtype",
    "quantization": "--quantization",
}
"""Keys beside a list of further arguments."""
MODELS = ("modelURL", "model", "modelName")
DEEPEST = 60
"""Levels of a document; a deeper one is nobody's deployment."""
KUBERNETES = re.compile(r"\$\((\w+)\)")
COMPOSE = re.compile(r"\$(?:\w+|\{\w+(?::?-(?P<default>[^{}$]*))?[^{}]*\}|(?P<itself>\$))")


class NotYamlError(ValueError):
    """The text is none, for this reason."""


def launches(text: str) -> Iterator[Found]:
    """Every start of an engine; NotYamlError where the text cannot be read."""
    if "vllm" not in text.lower():
        return
    try:
        for document in yaml.compose_all(plain(text), Loader=yaml.SafeLoader):
            if document is not None:
                yield from Reader().document(document)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        why = str(getattr(problem, "problem", None) or "cannot be read").split("\n")[0]
        raise NotYamlError(f"{where}{why}") from None
    except RecursionError:
        raise NotYamlError("nested too deeply") from None


class Reader:
    """Walks one document; what an alias leads to is read once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def document(self, document: Node) -> Iterator[Found]:
        fields = fields_of(document)
        if "model" in fields and any(name in fields for name in FLAGS):
            yield config(document, fields)
        else:
            yield from self._walk(document, "", ())

    def _walk(self, node: Node, key: str, above: tuple[Mapping[str, Node], ...]) -> Iterator[Found]:
        if id(node) in self._seen or len(above) > DEEPEST:
            return
        self._seen.add(id(node))
        if isinstance(node, MappingNode):
            fields = fields_of(node)
            started = container(fields, key in PODS)
            if started is not None:
                yield from started
            for name, value in fields.items():
                if started is None or name not in ("command", "args", "entrypoint"):
                    yield from self._walk(value, name, (*above, fields))
        elif isinstance(node, SequenceNode):
            texts = texts_of(node)
            if texts is not None and any(TELLING.fullmatch(text) for text in texts):
                yield listed(node, texts, above)
                return
            for item in node.value:
                yield from self._walk(item, key, above)
        elif isinstance(node, ScalarNode) and SERVES.search(node.value):
            yield from shell.launches(node.value, first_line(node))


def config(document: Node, fields: Mapping[str, Node]) -> Found:
    """The engine's own `--config`: each key an option."""
    words = [*SERVE]
    for name, node in fields.items():
        text = text_of(node)
        if name == "model" and text is not None:
            words.insert(2, _word(text))
        elif text is None:
            words.append(Word(f"--{name}={UNSAID}", known=False))
        elif node.tag.endswith(":bool"):
            words += [Word(f"--{name}")] if text.lower() in ("true", "yes", "on") else []
        elif not node.tag.endswith(":null"):
            words += [Word(f"--{name}"), _word(text)]
    return Found(document.start_mark.line + 1, tuple(words), {})


def container(fields: Mapping[str, Node], pod: bool) -> list[Found] | None:
    """What a container starts; None where the mapping is none."""
    image = image_of(fields)
    entry = fields.get("command" if pod else "entrypoint")
    rest = fields.get("args" if pod or "command" not in fields else "command")
    if entry is None and rest is None:
        return None
    if not pod and image is None and entry is None and not _starts_by_itself(rest):
        return None  # nothing says that it is a container
    environment = dict(environment_of(fields))
    notes = tuple(f"{name} {_told(fields[name])}" for name in ("env_file", "envFrom") if name in fields)
    notes += (f"image {image}",) if image is not None and "$" in image else ()
    given = [node for node in (entry, rest) if node is not None]
    words = [word for node in given for word in _words(node, environment, pod)]
    script = shell.script(words)
    line = given[0].start_mark.line + 1
    if script is not None:
        at = next((first_line(node) for node in _inner(given) if text_of(node) == script), line)
        inside = shell.launches(script, at, environment, image or "")
        return [found._replace(notes=(*found.notes, *notes)) for found in inside]
    if entry is None and image is not None and serves(image) and starts(words) != 0:
        words = [*SERVE, *words]
    start = shell.start(line, words, environment)
    named = release_of(image) if image is not None else None
    return [] if start is None else [start._replace(release=start.release or named, notes=notes)]


def _starts_by_itself(node: Node | None) -> bool:
    return node is not None and SERVES.search(" ".join(texts_of(node) or [text_of(node) or ""])) is not None


def listed(node: Node, texts: Sequence[str], above: tuple[Mapping[str, Node], ...]) -> Found:
    """A list of further arguments, with the model and the fields that stand beside or above it."""
    told: dict[str, str] = {}
    image, environment = None, dict[str, str]()
    for fields in above:
        told |= {name: text for name, at in fields.items() if (text := text_of(at)) is not None}
        image = image_of(fields) or image
        environment |= dict(environment_of(fields))
    model = next((told[name] for name in MODELS if name in told), None)
    beside = [part for name, flag in BESIDE.items() if name in told for part in (flag, told[name])]
    words = [*SERVE, *([_word(model)] if model else []), *map(_word, (*beside, *texts))]
    return Found(node.start_mark.line + 1, tuple(words), environment, release_of(image) if image else None)


def image_of(fields: Mapping[str, Node]) -> str | None:
    """`image: I`, `image: {repository: R, tag: T}`, or `repository` and `tag` beside each other."""
    named = text_of(fields.get("image"))
    if named is not None:
        return named
    parts = fields_of(fields["image"]) if "image" in fields else fields
    repository, tag = text_of(parts.get("repository")), text_of(parts.get("tag"))
    return None if repository is None else f"{repository}:{tag}" if tag else repository


def environment_of(fields: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """`env: [{name: N, value: V}]`, `environment: {N: V}` or `[N=V]`."""
    for node in (fields.get("env"), fields.get("environment")):
        if isinstance(node, MappingNode):
            for name, value in fields_of(node).items():
                yield name, _set(text_of(value))
        for item in node.value if isinstance(node, SequenceNode) else ():
            inner = fields_of(item)
            name, assigned, value = (text_of(item) or "").partition("=")
            if "name" in inner:
                name, value, assigned = text_of(inner["name"]) or "", text_of(inner.get("value")) or "", "="
                assigned = assigned if "value" in inner else ""
            if name.isidentifier():
                yield name, _set(value if assigned else None)


def _set(value: str | None) -> str:
    return UNKNOWN if value is None or "$" in value else value


def _word(text: str) -> Word:
    """A text of a document as a word: what is put in later is not known."""
    return Word(text, known="$" not in text, many=text == UNSAID)


def _words(node: Node, environment: Mapping[str, str], pod: bool) -> Iterator[Word]:
    """The words that a command's list or text is, as Kubernetes or compose puts values in."""
    texts = texts_of(node)
    if texts is None:
        text = text_of(node) or ""
        yield from shell.words(text, environment)
        return
    for text in texts:
        if SERVES.search(text) and len(text.split()) > 1:
            yield Word(text)  # a script, which its own shell reads
        elif pod:
            yield _kubernetes(text, environment)
        else:
            yield _compose(text)


def _kubernetes(text: str, environment: Mapping[str, str]) -> Word:
    """`$(NAME)` is replaced by the container's own environment, and nothing else is."""
    if UNSAID in text:
        return _word(text)
    known = all(environment.get(found[1], UNKNOWN) != UNKNOWN for found in KUBERNETES.finditer(text))
    replaced = KUBERNETES.sub(lambda found: environment.get(found[1], found[0]), text)
    return Word(replaced if known else text, known=known)


def _compose(text: str) -> Word:
    """`${NAME:-default}` is its default where nobody sets it, which a file cannot say; `$$` is a dollar."""
    known = all(found["itself"] or found["default"] is not None for found in COMPOSE.finditer(text))
    replaced = COMPOSE.sub(lambda found: "$" if found["itself"] else found["default"] or "", text)
    return Word(replaced if known else text, known=known)


def fields_of(node: Node, depth: int = 0) -> dict[str, Node]:
    """A mapping by the names of its keys, with what `<<` merges into it; nothing where the node is none."""
    if not isinstance(node, MappingNode) or depth > DEEPEST:
        return {}
    own = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
    merged: dict[str, Node] = {}
    below = own.pop("<<", None)
    for part in reversed(_inner([below]) if below is not None else []):
        merged |= fields_of(part, depth + 1)
    return {**merged, **own}


def texts_of(node: Node) -> list[str] | None:
    """The texts of a list; None where it holds something else, or is none."""
    if not isinstance(node, SequenceNode):
        return None
    texts = [text_of(item) for item in node.value]
    return [text for text in texts if text is not None] if None not in texts else None


def text_of(node: Node | None) -> str | None:
    return node.value if isinstance(node, ScalarNode) else None


def _inner(nodes: Sequence[Node]) -> list[Node]:
    return [inner for node in nodes for inner in (node.value if isinstance(node, SequenceNode) else [node])]


def _told(node: Node) -> str:
    texts = texts_of(node)
    return text_of(node) or (", ".join(texts) if texts else "...")


def first_line(node: Node) -> int:
    """The line on which a text begins; that of a block is below its sign."""
    block = isinstance(node, ScalarNode) and node.style in ("|", ">")
    return int(node.start_mark.line) + (2 if block else 1)
