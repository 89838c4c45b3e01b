"""What the pages show can be typed: an example that fails teaches the wrong thing."""

import re
from pathlib import Path

from best_agent.catalogue.locate import open_set

ROOT = Path(__file__).resolve().parents[2]


def test_the_task_file_of_the_page_about_tasks_loads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    folder = tmp_path / "pair-sums"
    folder.mkdir()
    shown = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert shown
    (folder / "task.toml").write_text(shown[1])
    for file in (ROOT / "tasks" / "pair-sums").iterdir():
        if file.name != "task.toml" and file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    task = open_set(str(tmp_path)).load("pair-sums")
    assert set(task.languages) == {"python", "cpp"}
    assert len(task.sizes) == 3
