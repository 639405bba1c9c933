"""Launch lines in YAML: compose files, Kubernetes manifests, Helm values and templates, the engine's own
`--config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from . import shell
from .found import UNKNOWN, Found, known, release_of, serves

TEMPLATE = re.compile(r"\{\{.*?\}\}")
COMMANDS = ("entrypoint", "command", "args")
"""Keys whose values together are what is started, in order."""
FLAGS = ("quantization", "kv-cache-dtype", "kv_cache_dtype")
TELLING = re.compile(r"-q|--quantization(?:=.*)?|--kv[-_]cache[-_]dtype(?:=.*)?")
"""Words that are options of an engine wherever they stand."""
BESIDE = {
    "dtype": "--dtype",
    "tensorParallelSize": "--tensor-parallel-size",
    "kvCacheDtype": "--kv-cache-dtype",
    "quantization": "--quantization",
}
"""Keys beside a list of further arguments."""
MODELS = ("modelURL", "model", "modelName")


class NotYamlError(ValueError):
    """The text is none, for this reason."""


def launches(text: str) -> Iterator[Found]:
    """Every start of an engine; NotYamlError where the text cannot be read."""
    try:
        for document in yaml.compose_all(_plain(text), Loader=yaml.SafeLoader):
            if document is not None:
                yield from _document(document)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise NotYamlError(f"{where}{getattr(problem, 'problem', None) or 'cannot be read'}") from None
    except RecursionError:
        raise NotYamlError("nested too deeply") from None


def _plain(text: str) -> str:
    """A template of Helm's as YAML: what it puts in is a variable, a line of nothing else is empty."""
    lines = []
    for line in text.split("\n"):
        alone = TEMPLATE.sub("", line).strip() in ("", "-")
        lines.append("" if "{{" in line and alone and not line.strip().startswith("- ") else line)
    return TEMPLATE.sub("$TEMPLATE", "\n".join(lines))


def _document(document: Node) -> Iterator[Found]:
    fields = _fields(document)
    if "model" in fields and any(name in fields for name in FLAGS):
        yield _config(document, fields)
        return
    yield from _walk(document, ())


def _config(document: Node, fields: Mapping[str, Node]) -> Found:
    """The engine's own `--config`: each key an option."""
    words: list[str] = ["vllm", "serve"]
    for name, node in fields.items():
        if isinstance(node, ScalarNode) and name != "model":
            value = node.value
            if node.tag.endswith(":bool"):
                words += [f"--{name}"] if value.lower() in ("true", "yes", "on") else []
            else:
                words += [f"--{name}", value]
        elif isinstance(node, ScalarNode):
            words.insert(2, node.value)
    whole, unsaid = known(words)
    return Found(document.start_mark.line + 1, whole, {}, None, unsaid)


def _walk(node: Node, above: tuple[Mapping[str, Node], ...]) -> Iterator[Found]:
    if isinstance(node, MappingNode):
        fields = _fields(node)
        taken = list(_container(fields))
        yield from taken
        for name, value in fields.items():
            if not (taken and name in COMMANDS):
                yield from _walk(value, (*above, fields))
    elif isinstance(node, SequenceNode):
        words = _scalars(node)
        if words is not None and any(TELLING.fullmatch(word) for word in words):
            yield _listed(node, words, above)
            return
        for item in node.value:
            yield from _walk(item, above)
    elif isinstance(node, ScalarNode) and shell.SERVES.search(node.value):
        yield from shell.launches(node.value, _first_line(node))


def _container(fields: Mapping[str, Node]) -> Iterator[Found]:
    """What a container starts."""
    given = [fields[name] for name in COMMANDS if name in fields]
    image = _text(fields.get("image"))
    words = [word for node in given for word in (_scalars(node) or _split(node))]
    if not words:
        return
    environment = dict(_environment(fields.get("env") or fields.get("environment")))
    line = given[0].start_mark.line + 1
    scripts = [word for word in words if shell.SERVES.search(word) and len(word.split()) > 1]
    if scripts:
        for node in (inner for outer in given for inner in _inner(outer)):
            if isinstance(node, ScalarNode) and node.value in scripts:
                for found in shell.launches(node.value, _first_line(node)):
                    yield found._replace(
                        environment={**environment, **found.environment}, release=_named(image)
                    )
        return
    start = shell.start(line, words, environment)
    if start is None and image is not None and serves(image):
        whole, unsaid = known(("vllm", "serve", *words))
        start = Found(line, whole, environment, None, unsaid)
    if start is not None:
        yield start._replace(release=_named(image))


def _named(image: str | None) -> str | None:
    return None if image is None else release_of(image)


def _listed(node: Node, words: Sequence[str], above: tuple[Mapping[str, Node], ...]) -> Found:
    """A list of further arguments, with the model and the fields that stand beside or above it."""
    told = {name: text for fields in above for name, at in fields.items() if (text := _text(at)) is not None}
    model = next((told[name] for name in MODELS if name in told), None)
    beside = [part for name, flag in BESIDE.items() if name in told for part in (flag, told[name])]
    whole, unsaid = known(("vllm", "serve", *([model] if model else []), *beside, *words))
    tag, repository = told.get("tag"), told.get("repository")
    image = f"{repository}:{tag}" if repository and tag else told.get("image")
    return Found(node.start_mark.line + 1, whole, {}, _named(image), unsaid)


def _environment(node: Node | None) -> Iterator[tuple[str, str]]:
    """`env: [{name: N, value: V}]`, `environment: {N: V}` or `[N=V]`."""
    if isinstance(node, MappingNode):
        for name, value in _fields(node).items():
            yield name, _set(_text(value))
    for item in node.value if isinstance(node, SequenceNode) else ():
        fields = _fields(item)
        name, assigned, value = (_text(item) or "").partition("=")
        if "name" in fields:
            yield _text(fields["name"]) or "", _set(_text(fields.get("value")))
        elif name:
            yield name, _set(value if assigned else None)


def _set(value: str | None) -> str:
    return "?" if value is None or UNKNOWN.search(value) else value


def _fields(node: Node) -> dict[str, Node]:
    """A mapping by the names of its keys; nothing where the node is none."""
    if not isinstance(node, MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def _scalars(node: Node) -> list[str] | None:
    """The texts of a list; None where it holds something else, or is none."""
    if not isinstance(node, SequenceNode):
        return None
    texts = [_text(item) for item in node.value]
    return [text for text in texts if text is not None] if all(text is not None for text in texts) else None


def _split(node: Node) -> list[str]:
    """The words of a command that is one text; a whole script stays one."""
    text = _text(node) or ""
    return [text] if "\n" in text.strip() and shell.SERVES.search(text) else shell.words(text)


def _inner(node: Node) -> Sequence[Node]:
    return node.value if isinstance(node, SequenceNode) else [node]


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, ScalarNode) else None


def _first_line(node: ScalarNode) -> int:
    """The line on which a text begins; that of a block is below its sign."""
    return int(node.start_mark.line) + (2 if node.style in ("|", ">") else 1)
