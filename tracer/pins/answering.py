"""From a PIN to whoever answers questions about it: a snapshot where one is bundled, else the source."""

from __future__ import annotations

from packaging.version import Version

from ...report.errors import SourceError
from ..answers import Answers, FromSnapshot, FromSource
from ..snapshot.bundled import bundled
from ..snapshot.file import Snapshot
from .cache import Cache, folder
from .grammar import Release, Request
from .opening import Ways, meant, newest, open_pin, opened
from .talk import Talk


def answering(text: str | None, engine: str, python: str | None, offline: bool, talk: Talk) -> Answers:
    """Who answers for the PIN; without one, for the engine that is installed, else for the newest bundled
    release.
    """
    with Cache(folder(), talk) as cache:
        ways = Ways(engine, python, offline, cache, talk)
        asked = meant(text, ways)
        version = _recorded(asked, ways)
        if version is None:
            try:
                return FromSource(opened(asked, ways))
            except SourceError as problem:
                version = newest(asked, engine) if isinstance(asked, Release) else None
                if version is None:
                    raise
                talk.say(f"{problem}; {version} is the newest that is bundled")
    return _snapshot(version, engine, offline, talk)


def _snapshot(version: Version, engine: str, offline: bool, talk: Talk) -> Answers:
    snapshot = Snapshot(bundled(engine)[version])
    talk.say(f"{engine} {version} from the snapshot that qtrace brings")
    return FromSnapshot(
        snapshot, lambda: FromSource(open_pin(str(version), engine, None, offline, talk)), talk.say
    )


def _recorded(asked: Request, ways: Ways) -> Version | None:
    """The bundled release that is meant; where any of a series may be, only if nothing newer can be had."""
    if not isinstance(asked, Release):
        return None
    if asked.exact:
        return newest(asked, ways.engine)
    from .releases import newest_kept

    found = newest(asked, ways.engine) if ways.offline else None
    here = newest_kept(asked, ways.engine, ways.cache)
    return None if found is None or (here is not None and here.version > found) else found


def nearby(answers: Answers, talk: Talk) -> Answers:
    """The answers that are recorded of a bundled release and hold for a source as well, with the source
    behind for the others; the source alone where none holds.
    """
    if not isinstance(answers, FromSource):
        return answers
    from ..answer import Before
    from ..snapshot.build import asked, known
    from ..snapshot.carried import Carried

    paths = bundled(answers.engine).values()
    for snapshot in map(Snapshot, paths):
        if snapshot.pin == answers.pin and snapshot.readings.rest() == answers.source.rest_hash:
            return FromSnapshot(snapshot, lambda: answers, talk.say)
    carried = [Carried(path, answers.library) for path in paths]
    best = max(carried, key=Carried.holding, default=None)
    if best is None or not best.holding():
        return answers
    others = "" if best.holding() == len(best) else "; the others are read from its source"
    talk.say(f"{answers}: {best.holding():,} of {len(best):,} recorded answers hold{others}")
    before: Before = {}
    filled = best.filled(known, lambda question: asked(answers.library, question, before)[0])
    return FromSnapshot(filled, lambda: answers, talk.say)
