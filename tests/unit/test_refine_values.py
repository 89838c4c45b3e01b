"""Budgets, patches, secrets and combined figures: small pure parts of the loop."""

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import UsageError
from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import CandidateResult, Reason, Spend, StopReason
from best_agent.model.run import Meter
from best_agent.model.task import Source
from best_agent.refine.budget import Ledger
from best_agent.refine.codec import dump_proposal, dump_result, load_proposal, load_result
from best_agent.refine.finish import Accepted, unconfirmed
from best_agent.refine.patch import unified
from best_agent.refine.proposals.base import Estimate, Proposal, estimated_tokens
from best_agent.refine.redact import REDACTED, Redactor

# -- budgets ----------------------------------------------------------------------------------


def test_spend_adds_up_and_what_is_not_known_stays_unknown() -> None:
    known = Spend(calls=1, tokens_in=10, tokens_out=5, usd=0.5)
    assert known + known == Spend(calls=2, tokens_in=20, tokens_out=10, usd=1.0)
    assert (known + Spend(calls=1, usd=None)).usd is None
    assert (Spend(calls=1, usd=None) + known).usd is None
    assert not (known + Spend(counted=False)).counted
    assert (known + Spend(estimated=True)).estimated


def test_two_rounds_must_be_payable() -> None:
    estimate = Estimate(tokens=1000, usd=0.1)
    Ledger(max_tokens=2000, max_usd=0.2).check_start(estimate)
    Ledger(max_tokens=1, max_usd=0.001).check_start(None)
    with pytest.raises(UsageError, match=r"two rounds take about 2,000 tokens, and --max-tokens is 1,999"):
        Ledger(max_tokens=1999).check_start(estimate)
    with pytest.raises(UsageError, match=r"two rounds cost about 0\.2000 USD"):
        Ledger(max_usd=0.19).check_start(estimate)
    with pytest.raises(UsageError, match="--price"):
        Ledger(max_usd=5).check_start(Estimate(tokens=1000, usd=None))


def test_what_calls_cost_so_far_says_what_the_next_round_costs() -> None:
    ledger = Ledger(max_tokens=10_000)
    ledger.add(Spend(calls=2, tokens_in=5000, tokens_out=1000))
    assert ledger.stop(Estimate(tokens=1, usd=None), calls=1) is None
    found = ledger.stop(Estimate(tokens=1, usd=None), calls=2)
    assert found is not None
    assert found[0] is StopReason.TOKENS
    assert "6,000 of 10,000 tokens" in found[1]


def test_without_a_bound_nothing_stops() -> None:
    ledger = Ledger()
    ledger.add(Spend(calls=1, tokens_in=10**9, usd=None))
    assert ledger.stop(Estimate(tokens=10**9, usd=None), calls=1) is None
    assert not ledger.overdrawn()
    assert ledger.answer_tokens(100, 1) is None


def test_usd_that_became_unknown_stop_a_run_that_bounds_them() -> None:
    ledger = Ledger(max_usd=1.0)
    ledger.add(Spend(calls=1, usd=None))
    assert ledger.overdrawn()
    found = ledger.stop(Estimate(tokens=1, usd=0.1), calls=1)
    assert found is not None
    assert found[0] is StopReason.USD


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 10))
def test_answers_are_bounded_by_what_is_left(most: int, spent: int, prompt: int, answers: int) -> None:
    ledger = Ledger(max_tokens=most)
    ledger.add(Spend(calls=1, tokens_in=spent))
    bound = ledger.answer_tokens(prompt, answers)
    assert bound is not None
    assert bound >= 256
    assert bound == 256 or answers * (bound + prompt) <= most - spent


def test_tokens_of_a_text_are_estimated_by_its_bytes() -> None:
    assert [estimated_tokens(text) for text in ("", "a", "abcd", "abcde", "ü" * 4)] == [0, 1, 1, 2, 2]


# -- patches ----------------------------------------------------------------------------------

lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", " c\n", "d\r\n", "e\f\n", "\u2028x\n"]), max_size=12)


@given(lines, lines, st.sampled_from(["", "end"]), st.sampled_from(["", "other end"]))
def test_a_patch_applied_gives_the_other_text(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str], tail: str, other: str
) -> None:
    old, new = "".join(before) + tail, "".join(after) + other
    patch = unified(old, new, "p.py")
    assert (patch == "") == (old == new)
    if not patch or not old or not new:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "p.py").write_bytes(old.encode())
    (folder / "x.diff").write_bytes(patch.encode())
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "--whitespace=nowarn", "x.diff"], cwd=folder, check=True
    )
    assert (folder / "p.py").read_bytes() == new.encode()


# -- secrets ----------------------------------------------------------------------------------


def test_secrets_of_the_environment_and_what_looks_like_one_are_redacted() -> None:
    redact = Redactor.of_environment(
        {
            "MY_API_KEY": "abcdefgh-1",
            "LONGER_TOKEN": "abcdefgh-1234",
            "SHORT_KEY": "abc",
            "HOME": "/home/someone",
        }
    )
    assert redact("x abcdefgh-1 y") == f"x {REDACTED} y"
    assert redact("abcdefgh-1234") == REDACTED, "the longer secret goes as a whole"
    assert redact("abc /home/someone") == "abc /home/someone"
    assert redact("key sk-abcdefghijklmnop1234!") == f"key {REDACTED}!"
    assert redact("http://user:pass@host/x") == f"http://{REDACTED}@host/x"
    assert redact.known("sk-abcdefghijklmnop1234") == "sk-abcdefghijklmnop1234"


def test_redacting_json_values_keeps_their_shape() -> None:
    redact = Redactor(["secret-value"])
    value = {"a": ["secret-value", 1, None, {"b": "x secret-value"}], "u": "://", "v": "x@y"}
    assert redact.values(value) == {"a": [REDACTED, 1, None, {"b": f"x {REDACTED}"}], "u": "://", "v": "x@y"}


# -- the log's values -------------------------------------------------------------------------

intervals = st.none() | st.tuples(st.floats(0.1, 1), st.floats(1, 10)).map(
    lambda ends: Interval(low=ends[0], high=ends[1])
)
figures = st.none() | st.builds(
    Compared,
    before=st.floats(0, 1e12),
    after=st.floats(0, 1e12),
    ratio=st.none() | st.floats(0, 1e6),
    ratio_ci=intervals,
    meter=st.sampled_from(Meter),
    n=st.integers(1, 20),
)
spends = st.builds(
    Spend, calls=st.integers(0, 9), tokens_in=st.integers(0, 9**9), usd=st.none() | st.floats(0, 9)
)


@given(
    st.builds(
        CandidateResult, id=st.text(), origin=st.text(), status=st.text(), accepted=st.booleans(),
        reason=st.sampled_from(Reason), detail=st.text(), digest=st.none() | st.text(), time=figures,
        memory=figures, spend=spends,
    )
)  # fmt: skip
def test_a_result_survives_the_log(result: CandidateResult) -> None:
    assert load_result(json.loads(json.dumps(dump_result(result)))) == result


@given(st.text(min_size=1), st.none() | st.text(min_size=1), spends)
def test_a_proposal_survives_the_log_but_for_its_raw_answer(
    origin: str, code: str | None, spend: Spend
) -> None:
    problem = Reason.NO_CODE if code is None else None
    proposal = Proposal(origin=origin, code=code, problem=problem, detail="d", spend=spend)
    assert load_proposal(json.loads(json.dumps(dump_proposal(proposal))), code) == proposal


# -- figures put together ---------------------------------------------------------------------


def accepted(name: str, time: Compared | None, memory: Compared | None) -> Accepted:
    result = CandidateResult(
        id=name,
        origin="o",
        status="ok",
        accepted=True,
        reason=Reason.FASTER,
        detail="",
        time=time,
        memory=memory,
    )
    return Accepted(source=Source(id=name, language="python", text=name), result=result)


def figure(before: float, after: float, half: float | None) -> Compared:
    ratio = after / before
    ci = None if half is None else Interval(low=ratio - half, high=ratio + half)
    return Compared(before=before, after=after, ratio=ratio, ratio_ci=ci, meter=Meter.EXACT, n=5)


def test_an_unconfirmed_result_multiplies_the_rounds_and_their_intervals() -> None:
    chain = [
        accepted("a", figure(100, 50, 0.1), figure(10, 5, None)),
        accepted("b", figure(50, 25, 0.1), figure(5, 4, None)),
    ]
    final = unconfirmed(chain, "interrupted", None)
    assert final.id == "b"
    assert not final.confirmed
    assert final.time is not None
    assert (final.time.before, final.time.after, final.time.ratio) == (100, 25, 0.25)
    assert final.time.ratio_ci is not None
    assert final.time.ratio_ci.low == pytest.approx(0.16)
    assert final.time.ratio_ci.high == pytest.approx(0.36)
    assert final.memory is not None
    assert (final.memory.ratio, final.memory.ratio_ci) == (pytest.approx(0.4), None)


def test_one_unknown_round_makes_the_product_unknown() -> None:
    chain = [accepted("a", figure(100, 50, 0.1), None), accepted("b", None, figure(5, 4, None))]
    final = unconfirmed(chain, "interrupted", None)
    assert final.time is None
    assert final.memory is None
