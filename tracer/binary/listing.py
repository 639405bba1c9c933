"""Which CUDA kernels are compiled into a wheel, an installed package or one library, and for which GPUs.

Nothing of what is examined is imported, loaded or run: `cuobjdump` takes the GPU code out of one library
after another into a temporary folder, and the tables of its modules are read there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..archive import refusal
from .architectures import in_order
from .cubin import Image, read_cubin, read_ptx
from .elf import BrokenElfError, sections
from .facts import Compiled, Library, Ptx
from .members import Member, members
from .tool import ExtractionError, cuobjdump, extract

GPU_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Where nvcc puts GPU code; a library without them is not asked further."""

_READERS = {".cubin": read_cubin, ".ptx": read_ptx}
_AGAIN = "fetch the file again, or install the package again"


def libraries(path: Path) -> tuple[Library, ...]:
    """List the shared libraries of a wheel (.whl) or of a folder and below, or one library; in order of path.

    Raises SourceError where something is wrong with the path or with what it holds, and UsageError where
    cuobjdump is needed and is not installed. The temporary folder takes one library at a time, unpacked, with
    its GPU code unpacked (for vLLM 0.33.0 1 GB), and is removed whatever happens.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="qtrace-") as temporary:
            room = Path(temporary)
            return tuple(_library(path, member, room / "code") for member in members(path, room))
    except OSError as problem:
        where = problem.filename or path
        why = f"cannot be read or written ({problem.strerror})"
        raise refusal(where, why, "mend its permissions, or set TMPDIR to another folder") from None


def _library(path: Path, member: Member, folder: Path) -> Library:
    try:
        images = _images(member.file, folder) if _has_gpu_code(member.file) else []
    except (BrokenElfError, ExtractionError) as problem:
        where = path if path.is_file() and member.file == path else f"{path}: {member.path}"
        raise refusal(where, str(problem), _AGAIN) from None
    return _gathered(member.path, images)


def _has_gpu_code(file: Path) -> bool:
    with file.open("rb") as opened:
        return any(section.name in GPU_SECTIONS for section in sections(opened))


def _images(file: Path, folder: Path) -> list[Image]:
    folder.mkdir()
    try:
        # The name is ours: what the program writes is called after it.
        link = folder / "library"
        link.symlink_to(file.absolute())
        return list(_read(folder)) if extract(cuobjdump(), link, folder) else []
    finally:
        shutil.rmtree(folder)


def _read(folder: Path) -> Iterator[Image]:
    for file in sorted(folder.iterdir()):
        if reader := _READERS.get(file.suffix):
            yield reader(file)


def _gathered(path: str, images: Iterable[Image]) -> Library:
    """Bring together what the modules of a library hold; many hold the same kernel."""
    code: defaultdict[str, set[str]] = defaultdict(set)
    texts: Counter[str] = Counter()
    for image in images:
        texts[image.target] += 1
        for kernel in image.kernels:
            code[kernel].add(image.target)
    return Library(
        path=path,
        kernels=tuple(_compiled(kernel, code[kernel]) for kernel in sorted(code)),
        ptx=tuple(Ptx(target=target, images=texts[target]) for target in _virtual(texts)),
    )


def _compiled(mangled: str, targets: set[str]) -> Compiled:
    ptx = _virtual(targets)
    return Compiled(mangled=mangled, architectures=in_order(targets.difference(ptx)), ptx=ptx)


def _virtual(targets: Iterable[str]) -> tuple[str, ...]:
    return in_order(target for target in targets if target.startswith("compute_"))
