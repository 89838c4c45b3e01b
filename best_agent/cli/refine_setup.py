"""From the flags of `refine` to a run: the task, the start, the source of proposals, the run directory."""

import argparse
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from best_agent.catalogue.locate import open_set
from best_agent.errors import UsageError
from best_agent.model.refinement import Objective, Refinement
from best_agent.model.task import Source, Task
from best_agent.pipeline.arena import open_arena, problem_of
from best_agent.pipeline.sources import load_source
from best_agent.refine.accept import MAX_RATIO, Terms
from best_agent.refine.budget import Ledger
from best_agent.refine.contract import Problem
from best_agent.refine.journal import Journal, read_header
from best_agent.refine.loop import Loop, first_prompt
from best_agent.refine.proposals import SOURCES, SourceOptions
from best_agent.refine.proposals.base import ProposalSource, SourceError
from best_agent.refine.redact import Redactor
from best_agent.refine.settings import PATIENCE, ROUNDS, SUFFIXES, Settings
from best_agent.report import refinement as as_json
from best_agent.report.console.refine import Progress
from best_agent.report.envelope import envelope, to_json

_PATHS = ("start", "candidates")
_SOURCE_FLAGS = ("model", "command", "candidates")
_KEPT = (
    *("task", "tasks", "language", "start", "model", "api_base", "samples", "command", "candidates"),
    *("answer_timeout", "price", "objective", "max_time_ratio", "max_memory_ratio", "rounds", "patience"),
    *("max_tokens", "max_usd", "seed"),
)
"""Flags that a resumed run takes over from its log where they are not given anew."""
_DEFAULT_SEED = 1
STATE = Path(".best-agent")
_STATE_IGNORE = "*\n!.gitignore\n!waivers.toml\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that was decided before anything is run."""

    problem: Problem
    start: Source | None
    """None: the source writes the first program, too."""
    start_note: str
    source: ProposalSource
    settings: Settings
    identity: Mapping[str, Any]


def prepare(args: argparse.Namespace) -> Plan:
    """Check everything that can be known without running or paying anything.

    Raises:
        UsageError: the flags, a file, a key or the task is not usable.
    """
    stored = _merge_resumed(args) if args.resume is not None else None
    if args.task is None:
        raise UsageError("refine needs --task ID; `best-agent tasks list` shows the tasks")
    kind = _source_kind(args)
    task = open_set(args.tasks).load(args.task)
    language = _language(args, task)
    problem = problem_of(task, language)
    start, note = _start(args, kind, task, problem, stored)
    source = SOURCES[kind](_source_options(args, kind, language))
    source.check()
    if kind == "command" and (args.max_tokens or args.max_usd):
        raise UsageError(
            "what a --command spends is not known here: --max-tokens and --max-usd are for --model"
        )
    terms = Terms(
        objective=Objective(args.objective or Objective.BOTH),
        max_time_ratio=args.max_time_ratio or MAX_RATIO,
        max_memory_ratio=args.max_memory_ratio or MAX_RATIO,
    )
    settings = Settings(
        terms=terms,
        rounds=args.rounds or ROUNDS,
        patience=args.patience or PATIENCE,
        max_tokens=args.max_tokens,
        max_usd=args.max_usd,
    )
    ledger = Ledger(max_tokens=settings.max_tokens, max_usd=settings.max_usd)
    ledger.check_start(source.estimate(first_prompt(problem, terms, start)))
    identity = {
        "task": task.id,
        "language": language,
        "objective": terms.objective,
        "seed": args.seed,
        "source": kind,
        "options": {name: _plain(getattr(args, name)) for name in _KEPT},
    }
    return Plan(
        problem=problem, start=start, start_note=note, source=source, settings=settings, identity=identity
    )


def dry_run(plan: Plan) -> str:
    """The first prompt and what leaves the machine."""
    prompt = first_prompt(plan.problem, plan.settings.terms, plan.start)
    estimate = plan.source.estimate(prompt)
    lines = [f"source of proposals: {plan.source.note}", f"what leaves: {plan.source.departure}"]
    if estimate is not None:
        usd = "cost unknown" if estimate.usd is None else f"about {estimate.usd:.4f} USD"
        most = plan.settings.rounds
        lines.append(f"a round: about {estimate.tokens:,} tokens, {usd}; at most {most} rounds")
    lines += ["nothing was run or sent", "", "--- system ---", prompt.system.rstrip(), "", "--- user ---"]
    return "\n".join([*lines, prompt.user.rstrip()])


def execute(args: argparse.Namespace, plan: Plan) -> tuple[Refinement, SourceError | None]:
    """Run the loop.

    Returns the result, and what ended the source of proposals where it failed.

    Raises:
        UsageError: the run directory, the start or the budget is not usable.
        IsolationError: the isolation asked for cannot be had.
        MeasureError: the start could not be measured.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(_journal(args, plan))
        stack.callback(_remove_if_empty, journal.directory)
        progress = stack.enter_context(Progress(sys.stderr, quiet=args.quiet, verbose=args.verbose))
        progress.say(f"proposals: {plan.source.note}; {plan.source.departure}")
        if plan.start_note:
            progress.say(plan.start_note)
        arena = stack.enter_context(
            open_arena(
                tasks=args.tasks,
                task_id=args.task,
                language=plan.problem.language,
                isolation=args.isolation,
                seed=args.seed,
                progress=progress.step,
            )
        )
        loop = Loop(arena, plan.start, plan.source, plan.settings, journal, progress)
        refinement = loop.run()
        journal.write("result.json", to_json(document(refinement)) + "\n")
    return refinement, loop.failure


def document(refinement: Refinement) -> dict[str, Any]:
    """The envelope `best-agent/refine/1`."""
    return envelope(
        "refine",
        results=as_json.results(refinement),
        summary=as_json.summary(refinement),
        isolation=refinement.isolation,
        meters={"time": refinement.time_meter, "memory": refinement.memory_meter},
    )


def _merge_resumed(args: argparse.Namespace) -> str:
    """Take flags that were not given from the log; the text of the start."""
    header, start = read_header(args.resume)
    options = header.get("options")
    if not isinstance(options, dict):
        raise UsageError(f"--resume {args.resume}: its log does not say how it was started")
    new_source = any(getattr(args, name) is not None for name in _SOURCE_FLAGS)
    for name in _KEPT:
        value = options.get(name)
        given = getattr(args, name)
        if value is None or (new_source and name in _SOURCE_FLAGS):
            continue
        if given is None or (name == "seed" and given == _DEFAULT_SEED):
            setattr(args, name, Path(value) if name in _PATHS else value)
    return start


def _source_kind(args: argparse.Namespace) -> str:
    given = [name for name in _SOURCE_FLAGS if getattr(args, name) is not None]
    if len(given) > 1:
        flags = " and ".join(f"--{name}" for name in given)
        raise UsageError(f"{flags} are both sources of proposals; choose one")
    if args.model is None:
        for name in ("api_base", "samples", "price"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --model NAME, which is missing")
    return given[0] if given else "rules"


def _language(args: argparse.Namespace, task: Task) -> str:
    """The language asked for, or that of the files given, or Python where the task has it."""
    if args.language is not None:
        return str(args.language)
    files = [path for path in (args.start, args.candidates) if path is not None]
    for path in files:
        names = [path.name, *(sorted(entry.name for entry in path.iterdir()) if path.is_dir() else ())]
        for name in names:
            found = next((language for language, own in SUFFIXES.items() if Path(name).suffix == own), None)
            if found in task.languages:
                return str(found)
    return "python" if "python" in task.languages or not task.languages else task.languages[0]


def _start(
    args: argparse.Namespace, kind: str, task: Task, problem: Problem, stored: str | None
) -> tuple[Source | None, str]:
    """The start, and a line about it where it is not what one would expect."""
    if stored is not None and args.start is not None and not args.start.is_file():
        # The file of the first run may be gone; the log has its text.
        name = Path(args.start)
        return Source(
            id="start", language=problem.language, text=stored, entry=problem.entry, path=name
        ), f"{name} is gone; its text is taken from the log"
    if args.start is not None:
        return load_source(args.start, problem.language, entry=problem.entry), ""
    naive = next((source for source in task.naive if source.language == problem.language), None)
    if naive is not None:
        return naive, ""
    if kind in ("rules", "candidates"):
        raise UsageError(
            f"task {task.id} has no naive solution in {problem.language} to start from: give one with "
            "--start FILE"
        )
    return None, "there is no program to start from: the first right one that is proposed is the start"


def _source_options(args: argparse.Namespace, kind: str, language: str) -> SourceOptions:
    default_s = 300.0 if kind == "command" else 120.0
    return SourceOptions(
        language=language,
        models=tuple(args.model or ()),
        api_base=args.api_base,
        samples=args.samples or 1,
        price=None if args.price is None else (args.price[0], args.price[1]),
        command=args.command,
        candidates=args.candidates,
        answer_timeout_s=args.answer_timeout or default_s,
        say=_talk(quiet=args.quiet),
    )


def _talk(*, quiet: bool) -> Callable[[str], None]:
    def say(line: str) -> None:
        if not quiet:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    return say


def _journal(args: argparse.Namespace, plan: Plan) -> Journal:
    if args.resume is not None and args.run_dir is not None:
        raise UsageError("--resume goes on in its own directory: leave out --run-dir")
    directory = args.resume or args.run_dir or _new_directory(plan.problem.id)
    journal = Journal(
        directory,
        suffix=SUFFIXES[plan.problem.language],
        identity=plan.identity,
        start="" if plan.start is None else plan.start.text,
        redact=Redactor.of_environment(),
    )
    if args.resume is not None:
        journal.resume()
    else:
        journal.check_free()
    return journal


def _new_directory(task_id: str) -> Path:
    """A run directory that is not in use, below the tool's own state folder."""
    number = 1
    while (STATE / "refine" / f"{task_id}-{number}").exists():
        number += 1
    directory = STATE / "refine" / f"{task_id}-{number}"
    try:
        directory.mkdir(parents=True)
        ignore = STATE / ".gitignore"
        if not ignore.exists():
            ignore.write_text(_STATE_IGNORE, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot keep the run in {directory}: {error.strerror}; name a --run-dir") from None
    return directory


def _remove_if_empty(directory: Path) -> None:
    """A run that ended before its log was begun leaves nothing behind."""
    with suppress(OSError):
        directory.rmdir()


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
