"""Tell what a rule means, why it matters and what to do; without an id, list the rules."""

from __future__ import annotations

import argparse

from ..report.exits import Exit


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="ID", help="an id or a name: QT101, quant.refused")
    parser.add_argument("--markdown", action="store_true", help="all rules as the page docs/rules.md")


def run(args: argparse.Namespace) -> int:
    from ..report.registry import RULES, lookup, page

    if args.markdown:
        print(page(RULES), end="")
        return Exit.OK
    if args.rule is None:
        for rule in RULES:
            print(f"{rule.id}  {rule.name:<22} {rule.level:<8} {rule.short}")
        return Exit.OK
    rule = lookup(args.rule)
    print(f"{rule.id} {rule.name}\n\n{rule.short}\n")
    for label, text in (("level", rule.level), ("why", rule.why), ("fix", rule.fix), ("since", rule.since)):
        print(f"{label:<6} {text}")
    return Exit.OK
