"""`best-agent tasks`: what tasks there are, and what each asks for."""

import argparse

from best_agent.catalogue.locate import TaskSet, open_set
from best_agent.cli.common import add_output_flags, emit, positive_int
from best_agent.cli.main import EXIT_CLEAN
from best_agent.errors import TaskError, UsageError
from best_agent.model.task import Task
from best_agent.report.console.tasks import render_task, render_task_list
from best_agent.report.tasks import list_payload, task_payload

_DESCRIPTION = """\
Tasks are what `run` and `refine` judge programs on. Each has inputs of growing size, memory limits
that get tighter from space level to space level, and reference solutions to be measured against.

examples:
  best-agent tasks list
  best-agent tasks show cold-reports
  best-agent tasks show 16 --tasks best:path/to/BEST --space-level 3
  best-agent tasks list --tasks my/tasks --format json

A folder of your own tasks is written as docs/tasks.md describes.

Exit codes: 0 shown, 2 usage, or a task that is not right.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `tasks list` and `tasks show`."""
    parser.description = _DESCRIPTION
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show")
    listing = actions.add_parser("list", help="all tasks of a set, one in a line")
    showing = actions.add_parser("show", help="one task: statement, sizes, limits, references")
    showing.add_argument("task", metavar="ID", help="the task; `best-agent tasks list` shows the ids")
    showing.add_argument(
        "--space-level",
        type=positive_int,
        default=1,
        metavar="N",
        help="the space level whose statement is shown; 1, the default, has the most memory",
    )
    for action in (listing, showing):
        action.add_argument(
            "--tasks",
            metavar="SPEC",
            help="where tasks come from: best:DIR or a folder; default: the catalogue",
        )
        add_output_flags(action)


def run(args: argparse.Namespace) -> int:
    """List a set, or show a task of it."""
    tasks = open_set(args.tasks)
    return _list(args, tasks) if args.action == "list" else _show(args, tasks)


def _list(args: argparse.Namespace, tasks: TaskSet) -> int:
    usable, unusable = _load_all(tasks)
    emit(
        args,
        list_payload(tasks.description, usable, unusable),
        lambda colour: render_task_list(tasks.description, usable, unusable, colour),
    )
    return EXIT_CLEAN


def _load_all(tasks: TaskSet) -> tuple[list[Task], list[tuple[str, str]]]:
    """The tasks that load, and id and reason of those that do not: one bad task must not hide the others."""
    usable: list[Task] = []
    unusable: list[tuple[str, str]] = []
    for task_id in tasks.ids():
        try:
            usable.append(tasks.load(task_id))
        except TaskError as error:
            unusable.append((task_id, str(error)))
    return usable, unusable


def _show(args: argparse.Namespace, tasks: TaskSet) -> int:
    task = tasks.load(args.task)
    if args.space_level > task.space_levels:
        raise UsageError(f"--space-level {args.space_level}: task {task.id} has {task.space_levels}")
    emit(
        args,
        task_payload(tasks.description, task),
        lambda colour: render_task(task, args.space_level - 1, colour),
    )
    return EXIT_CLEAN
