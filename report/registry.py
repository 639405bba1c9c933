"""The rules that qtrace knows: one table gives id, name, level, and what to tell the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from msgspec import Struct

from .errors import UsageError
from .exits import Exit
from .finding import Confidence, Finding, Level, Verdict
from .predicate import Site


class Rule(Struct, frozen=True, kw_only=True):
    """What a rule is called and what it means; what it looks at is code in `qtrace.rules`."""

    id: str
    """`QT` and three digits, never used again for another rule."""
    name: str
    """Dotted: area, then what is wrong."""
    level: Level
    short: str
    why: str
    fix: str
    since: str
    """The qtrace version that brought it."""
    exit: Exit = Exit.FINDINGS
    """The exit code when it fails at or above `--fail-on`."""

    def finding(
        self,
        verdict: Verdict,
        subject: str,
        message: str,
        *,
        expected: str | None = None,
        seen: str | None = None,
        site: Site | None = None,
        evidence: Iterable[str] = (),
        confidence: Confidence = Confidence.CERTAIN,
        fix: str | None = None,
        level: Level | None = None,
    ) -> Finding:
        """A finding of this rule, with its own level and fix unless others are given."""
        return Finding(
            rule=self.id,
            name=self.name,
            verdict=verdict,
            level=level or self.level,
            subject=subject,
            expected=expected,
            seen=seen,
            message=message,
            site=site,
            evidence=tuple(evidence),
            confidence=confidence,
            fix=fix or self.fix,
        )

    def __str__(self) -> str:
        return f"{self.id} {self.name} ({self.level}): {self.short}"


RULES: tuple[Rule, ...] = (
    Rule(
        id="QT101",
        name="quant.refused",
        level=Level.ERROR,
        short="The engine refuses this scenario.",
        why="Every way through the engine's source ends in an exception, so the engine would not start. "
        "The message is the engine's own.",
        fix="Change what the engine's message names: the flag, the checkpoint or the device.",
        since="0.1.0",
    ),
    Rule(
        id="QT102",
        name="quant.flag_rewritten",
        level=Level.NOTE,
        short="The flag is rewritten before it is used.",
        why="The engine asks each quantization method whether it wants to take the checkpoint over, and the "
        "first that does replaces the value of --quantization. What runs is not what was typed.",
        fix="Nothing to mend; give the resolved value to say what runs.",
        since="0.1.0",
    ),
    Rule(
        id="QT103",
        name="quant.unknown_method",
        level=Level.ERROR,
        short="The value is unknown to this pin.",
        why="The engine compares the value with the names it knows and raises. Names come and go between "
        "releases; another pin may know it.",
        fix="Use one of the names that this pin knows, or ask the pin that knows the value (--at).",
        since="0.1.0",
        exit=Exit.CANNOT_RUN,
    ),
    Rule(
        id="QT104",
        name="quant.method_resolution",
        level=Level.ERROR,
        short="The flag contradicts what the checkpoint says of itself.",
        why="The engine reads the method from the checkpoint's own quantization config, asks every method "
        "whether it wants to take the checkpoint over, and refuses a flag that names another one. Without "
        "the flag the same checkpoint is accepted.",
        fix="Leave --quantization out; or, where the weights are not what the checkpoint's config says, "
        "take the quantization config out of it.",
        since="0.1.0",
    ),
    Rule(
        id="QT105",
        name="quant.capability",
        level=Level.ERROR,
        short="The device is too old, or too new, for the method or its scheme.",
        why="The engine asks for a compute capability twice: once of the quantization method, once of the "
        "scheme that a layer gets. The second may ask for more. On the capabilities named, the same "
        "question is accepted.",
        fix="Use a device that is named, a checkpoint in a format whose kernels run on yours, or another "
        "release.",
        since="0.1.0",
    ),
    Rule(
        id="QT106",
        name="quant.act_dtype",
        level=Level.ERROR,
        short="The activation dtype does not fit the method or the checkpoint.",
        why="Some methods have kernels for float16 alone and are refused with bfloat16. As a warning: the "
        "checkpoint states bfloat16 and float16 was asked for; activations that bfloat16 holds may "
        "overflow to infinity in float16, which shows as the same token over and over. Where bfloat16 would "
        "be refused, that is a note.",
        fix="Leave --dtype or --quantization out, so that the engine takes a method that has the "
        "checkpoint's dtype, or give the dtype that the message names.",
        since="0.1.0",
    ),
    Rule(
        id="QT107",
        name="quant.fused_shards",
        level=Level.ERROR,
        short="Parts of one fused layer are quantized and others are not.",
        why="The engine joins modules of the checkpoint into one layer (q, k and v; gate and up), which "
        "has one method. A checkpoint that ignores some of them and quantizes others does not fit into it.",
        fix="Quantize again with all parts ignored or none, or use a release whose model keeps the "
        "modules apart.",
        since="0.1.0",
    ),
    Rule(
        id="QT108",
        name="quant.ignore_unmatched",
        level=Level.ERROR,
        short="A module that the checkpoint ignores is quantized all the same.",
        why="The engine compares the ignored names with the name under which it makes a layer. Where that "
        "is not the name under which it keeps the layer, they never meet: the layer expects quantized "
        "weights that the checkpoint does not hold.",
        fix="Use a release in which the model class gives the layer its own name, or name the layer as "
        "the engine makes it in the checkpoint's list.",
        since="0.1.0",
    ),
    Rule(
        id="QT109",
        name="quant.silent_cast",
        level=Level.ERROR,
        short="Stored weights are converted without a scale while they are loaded.",
        why="Loading copies a tensor into the parameter and converts its dtype without a word. Values "
        "stored in 8 bits are meaningless without their scale, and 16-bit weights lose theirs when they "
        "are cut to 8.",
        fix="Make the checkpoint's quantization config say what its tensors are: ignore the modules that are "
        "stored in 16 bits, and only those.",
        since="0.1.0",
    ),
    Rule(
        id="QT110",
        name="quant.block_tp",
        level=Level.ERROR,
        short="The share of one rank does not divide into the blocks or tiles of the weights.",
        why="Tensor parallelism cuts a layer into equal shares. Where scales hold for blocks, or kernels "
        "work in tiles, each share has to be a multiple of them. Expert parallelism does not change "
        "shared experts.",
        fix="Use the tensor parallel size that the message names, or pipeline parallelism for the rest.",
        since="0.1.0",
    ),
    Rule(
        id="QT111",
        name="flag.no_reader",
        level=Level.WARNING,
        short="Nothing on the way that is taken reads the flag.",
        why="The engine accepts the flag, and the code that reads it is not there or is not built for this "
        "question: it changes nothing.",
        fix="Leave it out, or turn the condition under which its readers are built.",
        since="0.1.0",
    ),
    Rule(
        id="QT112",
        name="flag.refused",
        level=Level.ERROR,
        short="The engine's command line does not take a line that starts it.",
        why="The release has no such flag or value, so the engine ends before it reads a checkpoint. A flag "
        "that the release dropped is the usual reason.",
        fix="Write the flag as the release has it, or name the release that the line was written for.",
        since="0.1.0",
    ),
    Rule(
        id="QT201",
        name="kernel.no_candidate",
        level=Level.ERROR,
        short="No kernel of the release takes the layer.",
        why="The engine asks its kernels in turn, and each said no. The evidence has every one with its "
        "reason, in the engine's words.",
        fix="Look for a reason that can be changed: a package, an environment variable, a dtype; else use "
        "another device or format.",
        since="0.1.0",
    ),
    Rule(
        id="QT202",
        name="kernel.weight_only_on_capable_hw",
        level=Level.WARNING,
        short="Activations stay in 16 bits although checkpoint and device could compute in fewer.",
        why="The checkpoint quantizes activations and the device multiplies in that format, but the "
        "kernel that was taken only unpacks the weights. As a note: the checkpoint asks for nothing else, "
        "so a warning in the engine's log about missing support is no loss.",
        fix="Read why the kernels before it were turned down: often a package is missing or a variable set.",
        since="0.1.0",
    ),
    Rule(
        id="QT203",
        name="kernel.layer_fallback",
        level=Level.WARNING,
        short="A layer gets a method or kernel that the engine ranks below that of its like.",
        why="Kernels have shapes that they cannot do. The engine then takes another way for that layer "
        "alone, and says so in one line of its log.",
        fix="Nothing, if the layer is small. Else another tensor parallel size or group size may fit the "
        "tiles, or a release that pads.",
        since="0.1.0",
    ),
    Rule(
        id="QT204",
        name="kernel.selector_vs_dispatch",
        level=Level.ERROR,
        short="The engine's Python takes a kernel whose C++ refuses the layer.",
        why="Python asks a list of kernels whether they can do the layer, and C++ asks again when it is "
        "called: by the device, the dtypes and what was compiled. Where the two differ the engine starts, "
        "loads the weights and raises at the first forward.",
        fix="Use another quantization format or device, or take the next kernel of the list: "
        "VLLM_DISABLED_KERNELS names those to leave out.",
        since="0.1.0",
    ),
    Rule(
        id="QT205",
        name="kernel.assets_missing",
        level=Level.NOTE,
        short="No tuned configuration is shipped for the layer's shapes on this device.",
        why="Triton kernels read their tile sizes from a file that is named after the layer's shapes and the "
        "device. Where the release has none the engine runs defaults, and its log says so: `Using default "
        "MoE config. Performance might be sub-optimal!` That is no fault, and how much a tuned file would "
        "gain is not known: it may be nothing.",
        fix="Measure before tuning. Then tune with the engine's benchmark scripts (benchmarks/kernels), or "
        "take a tensor parallel size or a device for which a file is shipped.",
        since="0.1.0",
    ),
    Rule(
        id="QT301",
        name="kv.scale",
        level=Level.WARNING,
        short="The FP8 KV cache is stored without a scale.",
        why="Keys and values are divided by a scale before they are stored as FP8 E4M3, which ends at 448. "
        "The checkpoint brings no scale and none is computed, so it is 1.0: what is larger is cut off, what "
        "is small loses bits. Often that costs nothing measurable; models with latent attention and long "
        "reasoning lose most.",
        fix="Calibrate the checkpoint with KV scales, use --kv-cache-dtype auto, or compare accuracy with "
        "and without.",
        since="0.1.0",
    ),
    Rule(
        id="QT302",
        name="kv.dtype_guard",
        level=Level.ERROR,
        short="A check refuses the KV cache dtype, though a backend takes it.",
        why="An attention backend takes this dtype on this device, yet the engine raises before it is used. "
        "Such checks differ between releases, and some are wider than what they guard against.",
        fix="Use another --kv-cache-dtype, or a release without the check (ask it with --at).",
        since="0.1.0",
    ),
    Rule(
        id="QT303",
        name="kv.backend_support",
        level=Level.ERROR,
        short="No attention backend takes the KV cache dtype, or the one that is used ignores it.",
        why="Every backend of this platform turns the dtype down, each with its reason, or the one that is "
        "picked refuses by itself; with the dtype left to the engine the layer is accepted. Or the cache "
        "that is allocated is not quantized though the flag asks for it.",
        fix="Use a dtype that a backend takes: the reasons tell which device or package it needs.",
        since="0.1.0",
    ),
    Rule(
        id="QT304",
        name="kv.auto_resolution",
        level=Level.WARNING,
        short="The KV cache holds another dtype than was asked for.",
        why="The checkpoint's quantization config can name a scheme for the KV cache, and the engine takes "
        "it. Some releases do so even where the flag says otherwise. A device without FP8 converts in "
        "software. Where the flag left it to the engine and the device has the format, this is a note.",
        fix="Give --kv-cache-dtype to decide; where the release ignores it, take the scheme out of the "
        "checkpoint's config.",
        since="0.1.0",
    ),
    Rule(
        id="QT305",
        name="kv.mla_geometry",
        level=Level.ERROR,
        short="The sizes of the model's latent attention fit no kernel of this release.",
        why="Kernels of latent attention are written for the sizes of one family of models: a rank of 512 "
        "and 64 rotary dimensions. A model with others is refused when its layer is made, or by a check in "
        "C++ at the first forward, after the weights are loaded.",
        fix="Use --kv-cache-dtype auto if that is accepted, or a release whose kernels take these sizes (ask "
        "it with --at).",
        since="0.1.0",
    ),
    Rule(
        id="QT306",
        name="kv.merged_modes",
        level=Level.WARNING,
        short="The mode of the KV cache dtype is one value with another mode.",
        why="An enumeration of the engine has two names for one value, so Python makes them one: what is "
        "asked of the other mode holds for this one as well, and kernels are chosen by it.",
        fix="Use another --kv-cache-dtype, or a release in which the two have values of their own.",
        since="0.1.0",
    ),
    Rule(
        id="QT401",
        name="mem.plan_excess",
        level=Level.ERROR,
        short="Twice the memory that the experts need is allocated.",
        why="Experts without a gate need one up projection, and the quantization method allocates two: half "
        "of the tensor is never used.",
        fix="Use a release or a method whose allocation follows the activation (ask it with --at).",
        since="0.1.0",
    ),
    Rule(
        id="QT801",
        name="diff.outcome",
        level=Level.ERROR,
        short="The same question ends otherwise at the other pin.",
        why="Both pins were asked the same, and another kernel is reached, or what was accepted is refused, "
        "or the other way round. Speed, memory and numbers may change with it.",
        fix="Ask the pin that you will run (`qtrace static --at`), and measure before you upgrade.",
        since="0.1.0",
    ),
    Rule(
        id="QT802",
        name="diff.launch",
        level=Level.WARNING,
        short="A change to a line that starts an engine changes what it comes to.",
        why="The line before and the line now end in other kernels, or one of them is refused: speed, memory "
        "and numbers may be others.",
        fix="Look at both ends; where the change was not meant, name the flag or the release as it was.",
        since="0.1.0",
    ),
    Rule(
        id="QT901",
        name="qtrace.open",
        level=Level.NOTE,
        short="The outcome depends on what is not known.",
        why="Something that the engine asks was neither given nor found in the source, so more than one "
        "outcome stays possible. Each is shown with its condition.",
        fix="Give the variables that decide, as flags.",
        since="0.1.0",
    ),
    Rule(
        id="QT902",
        name="qtrace.unsupported",
        level=Level.NOTE,
        short="Source was met that qtrace could not evaluate.",
        why="A construct that qtrace has no meaning for, or a bound on its work, lay on the way. Its value "
        "was taken as unknown, so outcomes may be missing a condition.",
        fix="Read the sites named as evidence; report the construct to qtrace if it decides your outcome.",
        since="0.1.0",
    ),
)


def index(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """Rules by id and by name; a second rule of the same id or name is an error."""
    table: dict[str, Rule] = {}
    for rule in rules:
        for key in (rule.id, rule.name):
            if key in table:
                raise ValueError(f"two rules are called {key}")
            table[key] = rule
    return table


_INDEX = index(RULES)


def lookup(key: str) -> Rule:
    """The rule of that id (in any case) or dotted name."""
    rule = _INDEX.get(key) or _INDEX.get(key.upper())
    if rule is None:
        near = difflib.get_close_matches(key, _INDEX, n=1)
        hint = f"did you mean {near[0]}?" if near else "`qtrace rule` lists them"
        raise UsageError(f"no rule is called {key!r}; {hint}")
    return rule


def page(rules: Iterable[Rule]) -> str:
    """The rules as a Markdown page, `docs/rules.md`."""
    parts = ["# Rules\n\nMade by `qtrace rule --markdown`; edit `report/registry.py` instead.\n"]
    parts += [_section(rule) for rule in rules]
    return "".join(parts)


def _section(rule: Rule) -> str:
    told = (("level", rule.level), ("why", rule.why), ("fix", rule.fix), ("since", rule.since))
    lines = "".join(f"- **{label}**: {text}\n" for label, text in told)
    return f"\n## {rule.id} `{rule.name}`\n\n{rule.short}\n\n{lines}"
