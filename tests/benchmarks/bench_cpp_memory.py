"""How far the peak memory of a C++ call, read from outside, is from a truth that is known.

    python tests/benchmarks/bench_cpp_memory.py [--repeats 5] [--isolation strict]

Prints one line for each way of using memory and each size, and one line with the worst of them. Not a
test: nothing fails.
"""

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass

from best_agent.languages import cpp
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation, Limits, Status
from best_agent.model.task import Mode, Source
from best_agent.sandbox.launcher import open_session

KIB = 1024
SIZES = (64 * KIB, 640 * KIB, 6400 * KIB)
ALLOWED_BYTES = 8 * KIB
ALLOWED_SHARE = 0.02

DRIVER = """#include <bits/stdc++.h>
#include "std.h"
using namespace std;
int main() {
    long long bytes, warm; cin >> bytes >> warm;
    { auto *block = static_cast<volatile char *>(malloc(warm + 1));
      for (long long i = 0; i < warm; i += 64) block[i] = 1;
      free(const_cast<char *>(block)); }
    Solution solution;
    auto result = solution.solve(bytes);
    cout << result << "\\n";
}
"""

TOUCH = """auto *block = static_cast<volatile char *>(malloc(bytes));
for (long long i = 0; i < bytes; i += 64) block[i] = 1;
free(const_cast<char *>(block));"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of using memory."""

    name: str
    body: str
    before: str = ""
    """Text before the class."""
    warm: float = 0
    """Memory touched and freed before the call, as a multiple of the size."""
    truth: Callable[[int], int] = lambda size: size


WAYS = (
    Way(name="nothing", body="", truth=lambda size: 0),
    Way(name="one block, touched", body=TOUCH),
    Way(
        name="many small blocks",
        body="void **last = nullptr;"
        "for (long long i = 0; i < bytes / 64; i++)"
        "{ auto **next = (void **)malloc(56); *next = last; last = next; }"
        "while (last) { auto **next = (void **)*last; free(last); last = next; }",
    ),
    Way(name="allocated and freed 50 times", body=f"for (int round = 0; round < 50; round++) {{ {TOUCH} }}"),
    Way(name="freed heap used again", body=TOUCH, warm=1.0),
    Way(name="part of a freed heap used again", body=TOUCH, warm=4.0),
    Way(
        name="deep recursion",
        before="__attribute__((noinline)) long long dive(char *top, long long bytes) {"
        " volatile char frame[1024]; frame[0] = frame[1023] = 1;"
        " if (top - (char *)frame >= bytes) return frame[0];"
        " return dive(top, bytes) + frame[1023]; }",
        body="if (dive((char *)__builtin_frame_address(0), bytes) == 42) return 1;",
    ),
    Way(
        name="vector growth (old blocks resident)",
        body="vector<char> grown; for (long long i = 0; i < bytes; i++) grown.push_back((char)i);"
        "if (grown[bytes / 2] == 300) return 1;",
        truth=lambda size: sum(1 << i for i in range((size - 1).bit_length())) + size,
    ),
    Way(name="vector of known size", body="vector<char> made(bytes, 1); if (made[bytes / 2] == 2) return 1;"),
    Way(
        name="static array",
        before="static char table[6400 * 1024];",
        body="for (long long i = 0; i < bytes; i += 64) ((volatile char *)table)[i] = 1;",
    ),
    Way(
        name="untouched block",
        body="auto *volatile block = malloc(bytes); free(block);",
        truth=lambda size: 0,
    ),
)


def peaks(way: Way, isolation: Isolation, repeats: int) -> list[list[int]]:
    """Peak bytes by size and repeat."""
    text = (
        f"{way.before}\nclass Solution {{ public: int solve(long long bytes) {{ {way.body} return 0; }} }};"
    )
    source = Source(id=way.name, language="cpp", text=text)
    program = cpp.build(BuildRequest(source=source, mode=Mode.DRIVER, driver=DRIVER), isolation)
    if isinstance(program, BuildFailure):
        raise SystemExit(f"{way.name}: {program.message}")
    found: list[list[int]] = []
    with open_session(program, isolation) as session:
        for size in SIZES:
            runs = [
                session.run(f"{size} {int(size * way.warm)}\n".encode(), Limits()) for _ in range(repeats)
            ]
            assert all(run.status is Status.OK for run in runs), runs[0]
            found.append([run.peak_bytes or 0 for run in runs])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--isolation", choices=[level.value for level in Isolation], default="strict")
    args = parser.parse_args()
    worst, within, total = 0.0, 0, 0
    for way in WAYS:
        for size, found in zip(SIZES, peaks(way, Isolation(args.isolation), args.repeats), strict=True):
            truth = way.truth(size)
            read = statistics.median(found)
            error = read - truth
            allowed = max(ALLOWED_BYTES, ALLOWED_SHARE * truth)
            worst = max(worst, abs(error) / allowed)
            total += 1
            within += abs(error) <= allowed
            sys.stdout.write(
                f"{way.name:36} {size / KIB:6.0f} KiB: truth {truth / KIB:8.1f} read {read / KIB:8.1f} "
                f"error {error / KIB:+7.1f} KiB, spread {(max(found) - min(found)) / KIB:.0f} KiB\n"
            )
    sys.stdout.write(f"ratio: worst error is {worst:.2f} of what is allowed; {within} of {total} within\n")


if __name__ == "__main__":
    main()
