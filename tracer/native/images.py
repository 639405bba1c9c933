"""What kernels are compiled to: by the build's script, or in a binary that is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...report.image import Image
from ...report.model import Hop, HopKind, Operator
from ..binary.architectures import in_order, loaded

if TYPE_CHECKING:
    from ..sources import Source
    from .gencode import Gencode
    from .reach.files import NativeFiles

Find = Callable[[Hop], Image | None]


class Built:
    """The images of a build for every architecture that the release supports."""

    def __init__(self, source: Source, cuda: int | None, files: NativeFiles) -> None:
        self._source, self._cuda, self._files = source, cuda, files

    @cached_property
    def _told(self) -> Mapping[str, Gencode]:
        from .gencode import compiled_for

        return compiled_for(self._source, self._cuda)

    def image(self, hop: Hop) -> Image | None:
        """What the file that launches a kernel is compiled for; None where that is open."""
        path = hop.site.path if hop.site is not None else ""
        found = [self._told[file] for file in self._compiling(path, hop) if file in self._told]
        if not found:
            return None
        code = in_order(name for each in found for name in each.architectures)
        return Image(code=code, site=found[0].site)

    def _compiling(self, path: str, hop: Hop) -> Iterable[str]:
        """The files in which a kernel's instances are compiled: the one that launches it, those that include
        it, or those that a script writes beside it.
        """
        if hop.note is not None:  # a generated file names it, and others beside that have its instances
            folder = path.rpartition("/")[0]
            written = [name for name in self._told if "*" in name and name.startswith(f"{folder}/")]
            if written:
                return written
        if not path.endswith(".cu"):
            units = (file for file in self._files.paths if file.endswith(".cu"))
            return [file for file in units if path in self._files.closure(file)]
        return [path]


def with_images(operator: Operator, find: Find) -> Operator:
    """An operator with the image of each kernel."""
    hops = tuple(
        replace(hop, image=find(hop)) if hop.kind is HopKind.GLOBAL_KERNEL else hop for hop in operator.hops
    )
    return replace(operator, hops=hops)


def on(capability: int, operator: Operator) -> Operator:
    """What a device of a capability makes of each image."""
    return with_images(operator, lambda hop: None if hop.image is None else taken(hop.image, capability))


def taken(image: Image, capability: int | None) -> Image:
    """What a device of a capability makes of an image."""
    if capability is None:
        return image
    found = loaded(capability, image.code)
    return replace(image, compatibility=found.compatibility, taken=found.code)
