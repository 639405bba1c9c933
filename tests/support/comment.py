"""What a Markdown comment has to keep to, as a parser sees it and as its lines read; texts that try it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

# CommonMark with GitHub's tables and strike-through; what else GitHub makes live is looked for besides.
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# Text that Markdown, HTML, Mermaid or GitHub would find something in, among any other.
MARKUP = st.lists(
    st.sampled_from(
        [
            *"`|<>&*_[]()!~#@$:;\\\"'-+=.1a\n \t",
            "```",
            "<!--",
            "-->",
            "</details>",
            "www.",
            "http://a",
            "&lt;",
        ]
    )
    | st.text(max_size=5)
).map("".join)
HOME = "https://github.com/vllm-project/vllm/"
INLINE = {"text", "text_special", "code_inline", "strong_open", "strong_close", "link_open", "link_close"}
BLOCKS = {"paragraph", "heading", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}
LIVE = re.compile(r"(?<!\w)[@#]\w|:\w+:|\$|://|www\.|\b[0-9a-f]{7,40}\b|\bGH-\d", re.I)
HTML = re.compile(r"<!-- qtrace -->\n*|\n*<details><summary>(?:[^<\n]|</?code>)*</summary>\n*|</details>\n*")
LABEL = r'"[A-Za-z0-9_ .,/=+*#;-]+"'
CHART = re.compile(
    rf"    h\d+(\(\[{LABEL}\]\)|\[\[{LABEL}\]\]|\{{\{{{LABEL}\}}\}}|\({LABEL}\)|\[{LABEL}\])"
    r"|    (h\d+) (-->|-\.->)\|[a-z0-9 ]+\| (h\d+)"
    r"|    style h\d+ stroke-dasharray: 4"
)


def faults(text: str) -> list[str]:
    """What is wrong with a comment; nothing where all is well."""
    tokens = PARSER.parse(text)
    lines = text.split("\n")
    found = [] if lines[0] == "<!-- qtrace -->" else ["no marker first"]
    found += _blocks(tokens) + _tables(tokens, lines) + _folds(tokens)
    for token in tokens:
        if token.type == "inline":
            found += _inline(token.children or [])
        if token.type == "fence":
            found += _chart(token)
    return found


def shown(markdown: str) -> str:
    """The text that a reader sees of one line of Markdown."""
    (inline,) = (token for token in PARSER.parse(f"x {markdown}") if token.type == "inline")
    parts = (t.content for t in inline.children or [] if t.type in ("text", "text_special", "code_inline"))
    return "".join(parts)[2:]


def _blocks(tokens: Iterable[Token]) -> list[str]:
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    return sorted(kinds - BLOCKS - {"inline", "fence", "html_block"})


def _tables(tokens: Iterable[Token], lines: list[str]) -> list[str]:
    """Each row has its head's columns, and no line that begins as a row has fallen out of its table.

    A parser fills short rows and cuts long ones, so the lines themselves are counted.
    """
    found, rows = [], 0
    for token in tokens:
        if token.type == "table_open" and token.map:
            table = lines[token.map[0] : token.map[1]]
            rows += len(table)
            found += [f"columns: {row}" for row in table if row.count("|") != table[0].count("|")]
    begun = sum(line.startswith("|") for line in lines)
    return found if rows == begun else [*found, f"{begun} rows, {rows} of them in tables"]


def _folds(tokens: Iterable[Token]) -> list[str]:
    blocks = [token.content for token in tokens if token.type == "html_block"]
    found = [f"html: {block}" for block in blocks if not HTML.fullmatch(block)]
    marks = re.findall(r"</?details>", "".join(blocks))
    return found if marks == ["<details>", "</details>"] * (len(marks) // 2) else [*found, "folds"]


def _inline(children: list[Token]) -> list[str]:
    found, code = [], 0
    for token in children:
        if token.type == "html_inline" and token.content in ("<code>", "</code>"):
            code += 1 if token.content == "<code>" else -1
        elif token.type not in INLINE:
            found.append(f"{token.type}: {token.content}")
        elif token.type == "link_open" and not str(token.attrs["href"]).startswith(HOME):
            found.append(f"link: {token.attrs['href']}")
        elif token.type == "text" and not code and LIVE.search(token.content):
            found.append(f"live: {token.content}")
    return found if not code else [*found, "code left open"]


def _chart(token: Token) -> list[str]:
    head, *lines = token.content.rstrip("\n").split("\n")
    matches = [CHART.fullmatch(line) for line in lines]
    found = [line for line, match in zip(lines, matches, strict=True) if match is None]
    known = {line.split()[0].rstrip('([{"').split("(")[0].split("[")[0].split("{")[0] for line in lines}
    ends = {end for match in matches if match and match[2] for end in (match[2], match[4])}
    whole = token.info == "mermaid" and head == "flowchart TD" and ends <= known
    return found if whole else [*found, f"chart: {token.info} {head}"]
