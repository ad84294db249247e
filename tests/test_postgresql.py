"""A gradebook in a real PostgreSQL server: written, marked by hand, lost on the way, refused, and shown by nbgrader."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import postgres
import pytest
import tiny_exercise
from nbgrader.api import Gradebook
from postgres import rows
from sqlalchemy import Connection, Engine, event
from test_gradebook import (
    FULL,
    HANDED_IN,
    a_score,
    comment,
    finals,
    grade_by_hand,
    grades,
    mark_like_a_human,
    refusal,
    unreadable,
    write,
    write_code,
)

from autograder import catalog, gradebook_db, gradebook_final, gradebook_server
from autograder.gradebook import GradebookError, GradebookWriter, read_scores, url_of
from autograder.gradebook_seen import fingerprint_of
from autograder.locks import LockError
from autograder.models import Exercise, Score

pytestmark = pytest.mark.needs("postgresql")

ALL: list[Score] = [
    a_score("s1"),
    unreadable("s2"),
    a_score("s3", {"halves": 0.0, "keeps_the_sign": 1.0, "is_a_float": 0.5}, reason="half a \ud800, a \0 and a 名"),
    a_score('O\'Neil "the" 100% {x} :y $1 \\ ; -- 名\udcff'),
]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as started:
        yield started


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no other grader has the lock, wait for as long as the server takes to see that."""
    monkeypatch.setattr(gradebook_server, "_PATIENCE_S", 60.0)


@pytest.fixture
def url(server: postgres.Server) -> str:
    return server.database()


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))


def database_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


# ---------------------------------------------------------------------------- written


def test_it_holds_the_same_rows_as_sqlite(url: str, tmp_path: Path, exercise: Exercise) -> None:
    beside = tmp_path / "halve" / "timestamp.txt"
    beside.parent.mkdir()
    beside.write_text("2026-11-29 10:00:00 UTC")
    file = url_of(tmp_path / "gradebook.db")
    less = replace(exercise, checks=exercise.checks[:-1])
    first = [replace(score, path=str(beside.with_name("halve.ipynb"))) for score in ALL]
    rest = {"halves": 1.5, "keeps_the_sign": 1.0}
    for each in (url, file):
        write(each, exercise, *first)
        assert write_code(each, exercise, a_score("s1"), "one") == {}
        grade_by_hand(each, "halves", manual_score=1.0)
        grade_by_hand(each, "is_a_float", extra_credit=0.25)
        assert write_code(each, exercise, a_score("s1"), "two") == {("s1", "halve"): ("halves", "is_a_float")}
        write(each, less, a_score("s3", rest), a_score("s4", rest))
    assert rows(url) == rows(file)
    assert read_scores(url) == read_scores(file)
    assert len(read_scores(url)) == len(ALL) + 1


def test_marks_that_the_checks_alone_did_not_give_are_found(
    url: str, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradebook_final, "_CHUNK", 3)
    assert finals(url, exercise, *HANDED_IN) == {}
    left = fingerprint_of(url)
    expected = mark_like_a_human(url)
    assert fingerprint_of(url) not in ("", left)
    assert finals(url, exercise, *HANDED_IN) == expected
    exported = {row["student"]: row["score"] for row in read_scores(url)}
    assert {name: exported[name] for name in expected} == expected


def test_writing_the_same_again_changes_nothing(url: str, exercise: Exercise) -> None:
    write(url, exercise, *ALL)
    before, left = rows(url), fingerprint_of(url)
    write(url, exercise, *reversed(ALL))
    assert rows(url) == before
    assert fingerprint_of(url) == left


def test_nbgrader_makes_the_tables_and_we_write(url: str, exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))  # nbgrader calls `alembic` by name
    with Gradebook(url) as gradebook:
        gradebook.add_student("s1", first_name="Ada")
    write(url, exercise, *ALL)
    assert grades(url)["halves"] == (1.5, None, False)
    with Gradebook(url) as gradebook:
        assert gradebook.find_student("s1").first_name == "Ada"


def test_a_manual_mark_stays(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1", {**FULL, "halves": 0.0}, reason="automatic"))
    grade_by_hand(url, "halves", manual_score=1.0)
    write(url, exercise, a_score("s1", reason="other"))
    assert grades(url)["halves"] == (1.5, 1.0, True)
    assert comment(url) == ("other", None)


def test_a_name_longer_than_a_server_keeps_costs_only_itself(url: str, exercise: Exercise) -> None:
    long = ["x" * 200 + end for end in ("1", "2")]
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        scores = [a_score(long[0]), a_score("s1"), a_score(long[1], dict.fromkeys(FULL, 0.0))]
        gradebook.write(scores, {(score.student, "halve"): "one" for score in scores})
        with Gradebook(url) as other:
            [grade, *_] = other.find_submission("halve", kept := read_scores(url)[1]["student"]).notebooks[0].grades
            grade.manual_score = 0.5
            other.db.commit()
        gradebook.write(scores, {(score.student, "halve"): "two" for score in scores})
        assert list(gradebook.look_again(scores)) in ([(long[0], "halve")], [(long[1], "halve")])
    names = [row["student"] for row in read_scores(url)]
    assert len(kept) == 128
    assert (len(names), len(set(names)), max(map(len, names))) == (3, 3, 128)


def test_a_batch_is_all_or_nothing(url: str, server: postgres.Server, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    before = rows(url)
    with server.connect(database_of(url)) as other:
        other.execute("ALTER TABLE comment ADD CHECK (auto_comment <> 'no')")
    said = ""
    try:
        write(url, exercise, a_score("s2"), a_score("s3", reason="no"))
    except GradebookError as error:
        said = str(error)
    assert 'the gradebook cannot be used (new row for relation "comment" violates check constraint' in said
    assert rows(url) == before


# -------------------------------------------------------------------------- others at it


def test_two_graders_are_kept_apart(
    url: str, server: postgres.Server, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = server.database("elsewhere")
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        with monkeypatch.context() as patch:
            patch.setattr(gradebook_server, "_PATIENCE_S", 0.1)
            with pytest.raises(LockError) as caught:
                write(url, exercise, a_score("s2"))
        who = rf"another grader \(autograder, process {os.getpid()} on .+\) is writing to it, and nothing was graded;"
        assert re.search(who, str(caught.value))
        assert server.password not in str(caught.value)
        write(elsewhere, exercise, a_score("s2"))
        assert read_scores(url)  # which others may do meanwhile
        grade_by_hand(url, "halves", manual_score=1.0)
        gradebook.write([a_score("s3")])
    write(url, exercise, a_score("s2"))
    assert [row["student"] for row in read_scores(url)] == ["s1", "s2", "s3"]


def test_the_lock_of_a_grader_that_just_ended_is_waited_for(url: str, exercise: Exercise) -> None:
    first = GradebookWriter(url, {"halve": exercise})
    first.__enter__()
    timer = threading.Timer(0.3, first.__exit__, (None, None, None))
    timer.start()
    write(url, exercise, a_score("s1"))
    timer.join()
    assert len(read_scores(url)) == 1


def test_the_lock_is_back_before_the_connection_is_dropped(
    url: str, server: postgres.Server, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server sees the end of a connection when it comes to it, and a teacher may grade again at once.
    free: list[bool] = []

    def look(session: Connection) -> None:
        with server.connect(database_of(url)) as other:
            ((now,),) = other.execute(f"SELECT pg_try_advisory_lock({gradebook_server.LOCK})").fetchall()
            free.append(now)
        drop(session)

    drop = Connection.invalidate
    monkeypatch.setattr(Connection, "invalidate", look)
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        assert free == []
    assert free == [True]


def test_a_grader_that_ends_does_not_wait_for_a_server_that_stands_still(
    url: str, server: postgres.Server, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.gradebook._LET_GO_S", 0.1)
    with server.connect(database_of(url)) as other:
        query = (
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        first = GradebookWriter(url, {"halve": exercise}).__enter__()
        ((backend,),) = other.execute(query).fetchall()
        os.kill(backend, signal.SIGSTOP)
        try:
            first.__exit__(None, None, None)
            assert other.execute(query).fetchall() == [(backend,)]
        finally:
            os.kill(backend, signal.SIGCONT)
    write(url, exercise, a_score("s1"))
    assert len(read_scores(url)) == 1


def test_nobody_writes_between_our_reading_and_our_writing(
    url: str, server: postgres.Server, exercise: Exercise
) -> None:
    refused: list[str] = []

    def intrude(connection: Any, cursor: Any, statement: str, *_: object) -> None:
        if "FROM grade" in statement and not refused:
            with server.connect(database_of(url)) as other:
                other.execute("SET lock_timeout = '50ms'")
                try:
                    other.execute("UPDATE grade SET manual_score = 1.0")
                except Exception as error:
                    refused.append(type(error).__name__)

    write(url, exercise, a_score("s1"))
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        event.listen(Engine, "after_cursor_execute", intrude)
        try:
            gradebook.write([a_score("s1")])
        finally:
            event.remove(Engine, "after_cursor_execute", intrude)
    assert refused == ["LockNotAvailable"]


def test_another_programs_open_transaction_is_not_waited_for_for_ever(
    url: str, server: postgres.Server, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradebook_db, "WAIT_S", 0.2)
    write(url, exercise, a_score("s1"))
    with GradebookWriter(url, {"halve": exercise}) as gradebook, server.connect(database_of(url)) as other:
        with other.transaction():
            other.execute("UPDATE grade SET manual_score = 1.0")
            with pytest.raises(
                GradebookError, match=r"another program has been writing to this gradebook for 0\.2 s; let"
            ):
                gradebook.write([a_score("s2")])
        gradebook.write([a_score("s2")])  # the writer is none the worse for it
    assert len(read_scores(url)) == 2


# -------------------------------------------------------------------------- fingerprint


def left_by_a_run(url: str, exercise: Exercise) -> str:
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        gradebook.write([a_score("s2")])
        return gradebook.fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE grade SET manual_score = 1.0 WHERE id = (SELECT min(id) FROM grade)",
        "UPDATE comment SET manual_comment = 'Seen.' WHERE id = (SELECT min(id) FROM comment)",
        "DELETE FROM comment WHERE id = (SELECT min(id) FROM comment)",
        "INSERT INTO student (id) VALUES ('new')",
        "UPDATE notebook SET kernelspec = 'other'",
        "UPDATE autograder_code SET code = 'other'",
    ],
)  # fmt: skip
def test_a_gradebook_that_others_changed_is_another(
    url: str, server: postgres.Server, exercise: Exercise, change: str
) -> None:
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1"), a_score("s2")], {("s1", "halve"): "one"})
        left = gradebook.fingerprint()
    assert left.startswith("postgresql ")
    assert fingerprint_of(url) == left
    with server.connect(database_of(url)) as other:
        other.execute(change)
    assert fingerprint_of(url) not in ("", left)
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        assert gradebook.fingerprint() == fingerprint_of(url)
        with server.connect(database_of(url)) as other:  # during a run
            other.execute(change.replace("'new'", "'newer'"))
        gradebook.write([a_score("s3")])
        assert gradebook.fingerprint() == ""
    assert left_by_a_run(url, exercise) == fingerprint_of(url) != ""


def test_a_run_that_removes_and_adds_knows_what_it_did(url: str, exercise: Exercise) -> None:
    write(url, exercise, *ALL)
    less = replace(exercise, checks=exercise.checks[:-1])
    with GradebookWriter(url, {"halve": less}) as gradebook:
        gradebook.write([a_score("s1", {"halves": 1.5, "keeps_the_sign": 1.0})])
        assert gradebook.fingerprint() == fingerprint_of(url) != ""
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score(f"n{number}") for number in range(700)])
        assert gradebook.fingerprint() == fingerprint_of(url) != ""


def test_what_others_only_read_is_the_same(url: str, exercise: Exercise) -> None:
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        read_scores(url)
        assert gradebook.fingerprint() == fingerprint_of(url) != ""


def test_of_an_empty_database_nothing_is_said(url: str) -> None:
    assert fingerprint_of(url) == ""


# ------------------------------------------------------------------------------- killed


def kill_at(moment: int, work: Callable[[], None]) -> bool:
    """Run something in a process that ends itself before its n-th statement; return whether it came to that."""
    if (pid := os.fork()) == 0:
        left = [moment]

        def step(*_: object) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", step)
        event.listen(Engine, "commit", step)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def test_a_writer_killed_at_any_statement_leaves_whole_batches(server: postgres.Server, exercise: Exercise) -> None:
    batches = [ALL[:2], ALL[2:], [a_score("s1", dict.fromkeys(FULL, 0.0)), a_score("s9")]]

    def work(url: str) -> None:
        with GradebookWriter(url, {"halve": exercise}) as gradebook:
            for batch in batches:
                gradebook.write(batch, {(score.student, "halve"): "one" for score in batch})

    steps: list[list[str]] = []
    whole = server.database()
    with GradebookWriter(whole, {"halve": exercise}) as gradebook:
        steps.append(rows(whole))
        for batch in batches:
            gradebook.write(batch, {(score.student, "halve"): "one" for score in batch})
            steps.append(rows(whole))
    assert len({tuple(step) for step in steps}) == 4
    seen, moment = set(), 0
    while True:
        url = server.database()
        if not kill_at(moment, lambda url=url: work(url)):
            break
        left = rows(url)
        assert left == [] or left in steps, moment
        seen.add(tuple(left))
        work(url)
        assert rows(url) == steps[-1], moment
        moment += 9
    assert seen >= {tuple(step) for step in steps[:-1]}


def test_a_connection_that_is_lost_is_one_sentence_and_the_lock_with_it(
    url: str, server: postgres.Server, exercise: Exercise
) -> None:
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        before = rows(url)
        assert server.end_sessions(database_of(url)) >= 1
        for _ in range(2):  # it does not connect again by itself: another grader may have the lock
            with pytest.raises(
                GradebookError, match=r"the connection to the server was lost.*; run this again"
            ) as caught:
                gradebook.write([a_score("s2")])
            assert "\n" not in str(caught.value)
            assert server.password not in str(caught.value)
        assert rows(url) == before
    write(url, exercise, a_score("s2"))
    assert len(read_scores(url)) == 2


# ------------------------------------------------------------------------------ refused


def test_what_is_wrong_with_a_server_is_one_sentence_without_the_password(
    server: postgres.Server, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.setenv(name, "/nonexistent" if name == "PGPASSFILE" else "")
    folder, word = server.folder, server.password
    gone = server.url("course", password="hunter2").replace(str(folder), "/nonexistent")
    port = "postgresql+psycopg://teacher:hunter2@127.0.0.1:1/course"
    cases = {
        server.url("postgres", password="hunter2"): "the server does not accept this user with this password; ",
        server.url("postgres", password=""): "the server asks for a password; put it into ~/.pgpass, or into the URL",
        server.url("no such"): "the server has no such database; make it with `createdb`, or mend the URL",
        gone: "no server answers there (",
        port: "no server answers there (",
        "postgresql+psycopg://teacher@nowhere.invalid/course?password=hunter2": "no server answers there (",
    }  # fmt: skip
    for url, sentence in cases.items():
        said = refusal(url, exercise)
        assert f": {sentence}" in said
        assert said.startswith("postgresql+psycopg://teacher")
        assert "hunter2" not in said
        assert word not in said


def test_a_database_of_something_else_is_left_alone(url: str, server: postgres.Server, exercise: Exercise) -> None:
    with server.connect(database_of(url)) as other:
        other.execute("CREATE TABLE student (id integer)")
    assert (
        "a database, but not one of this nbgrader's gradebooks: it has no course.id; choose another gradebook"
        in refusal(url, exercise)
    )
    with server.connect(database_of(url)) as other:
        assert other.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (1,)


def test_a_user_who_may_not_write_is_named(url: str, server: postgres.Server, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    with server.connect(database_of(url)) as other:
        other.execute("DROP ROLE IF EXISTS reader")
        other.execute("CREATE ROLE reader LOGIN PASSWORD 'r'")
        other.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    reader = server.url(database_of(url), user="reader", password="r")
    assert "this user may not write there (permission denied for table " in refusal(reader, exercise)
    assert len(read_scores(reader)) == 1


@pytest.mark.parametrize("name", ["a b? 50%", "a#b+c:d/e@f", 'Großes 名 it\'s "x"'])
def test_a_database_with_odd_characters_in_its_name(server: postgres.Server, exercise: Exercise, name: str) -> None:
    url = server.database(name)
    write(url, exercise, a_score("s1"))
    assert read_scores(url)[0]["score"] == 3.0
    assert grades(url)["halves"] == (1.5, None, False)
