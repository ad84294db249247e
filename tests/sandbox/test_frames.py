"""Frames: whatever a stranger writes on the socket ends as a message, or as one of three exceptions, in time."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from autograder.sandbox import frames


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def raw(sock: socket.socket, body: bytes, size: int | None = None) -> None:
    sock.settimeout(5)
    sock.sendall(struct.pack(">I", len(body) if size is None else size) + body)


def soon() -> float:
    return time.monotonic() + 0.2


@pytest.mark.parametrize(
    "message",
    [None, True, 0, -1, 2**63, 1.5, "", "é\n\x00", [], {}, {"a": [1, {"b": None}]}, "half a pair: \ud800"],
    ids=repr,
)
def test_a_message_arrives_as_it_was(pair: tuple[socket.socket, socket.socket], message: object) -> None:
    frames.send(pair[1], message)
    assert frames.receive(pair[0], soon()) == message


def test_frames_keep_their_order_and_their_borders(pair: tuple[socket.socket, socket.socket]) -> None:
    for number in range(100):
        frames.send(pair[1], {"number": number})
    assert [frames.receive(pair[0], soon())["number"] for _ in range(100)] == list(range(100))


def test_a_frame_that_comes_in_pieces_is_put_together(pair: tuple[socket.socket, socket.socket]) -> None:
    data = struct.pack(">I", 14) + b'{"a": "piece"}'
    sender = threading.Thread(target=lambda: [(time.sleep(0.002), pair[1].send(bytes([byte]))) for byte in data])
    sender.start()
    assert frames.receive(pair[0], time.monotonic() + 20) == {"a": "piece"}
    sender.join()


def test_one_of_the_largest_frames_arrives(pair: tuple[socket.socket, socket.socket]) -> None:
    text = "x" * (frames.LIMIT - 2)
    sender = threading.Thread(target=frames.send, args=(pair[1], text, time.monotonic() + 20))
    sender.start()
    assert frames.receive(pair[0], time.monotonic() + 20) == text
    sender.join()


# -------------------------------------------------------------------- what is no frame


def nested(opening: str, closing: str, depth: int) -> bytes:
    return (opening * depth + closing * depth).encode()


BAD = {
    "nothing in it": b"",
    "no JSON": b"passed",
    "half of JSON": b'{"a": [1',
    "two values": b"1 2",
    "NaN": b'{"a": NaN}',
    "Infinity": b"[Infinity]",
    "-Infinity": b"[-Infinity]",
    "not UTF-8": b'"\xff\xfe"',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "single quotes": b"{'a': 1}",
    "an integer of 5,000 digits": b"1" * 5_000,
    "20,000 lists deep": nested("[", "]", 20_000),
    "20,000 objects deep": nested('{"a":', "}", 20_000),
    "20,000 lists, never closed": b"[" * 20_000,
    "a pickle": b"\x80\x04\x95\x0b\x00\x00\x00",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_not_json_is_refused(pair: tuple[socket.socket, socket.socket], body: bytes) -> None:
    raw(pair[1], body)
    with pytest.raises(frames.BadFrame):
        frames.receive(pair[0], soon())


@pytest.mark.parametrize("size", [frames.LIMIT + 1, 2**31, 2**32 - 1])
def test_a_length_beyond_the_limit_is_refused_before_anything_is_read(
    pair: tuple[socket.socket, socket.socket], size: int
) -> None:
    raw(pair[1], b"", size)
    with pytest.raises(frames.BadFrame, match=f"{size} bytes"):
        frames.receive(pair[0], soon())


def test_what_is_too_large_is_not_sent(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(frames.TooLarge):
        frames.send(pair[1], "x" * frames.LIMIT)
    with pytest.raises(frames.Late):  # not even its length
        frames.receive(pair[0], soon())


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_does_not_have_is_not_sent(pair: tuple[socket.socket, socket.socket], number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        frames.send(pair[1], [number])


def test_an_infinity_in_disguise_is_left_to_the_decoder(pair: tuple[socket.socket, socket.socket]) -> None:
    # JSON has no limit on exponents, so this is a frame; ``values.decode`` refuses the number.
    raw(pair[1], b"1e999")
    assert frames.receive(pair[0], soon()) == float("inf")


# ----------------------------------------------------------------------- ends and time


@pytest.mark.parametrize("sent", [b"", b"\0\0", struct.pack(">I", 100), struct.pack(">I", 100) + b'{"a":'])
def test_the_other_side_ends_too_early(pair: tuple[socket.socket, socket.socket], sent: bytes) -> None:
    pair[1].sendall(sent)
    pair[1].close()
    with pytest.raises(frames.Closed):
        frames.receive(pair[0], soon())


@pytest.mark.parametrize("sent", [b"", b"\0\0", struct.pack(">I", 100), struct.pack(">I", 100) + b'{"a":'])
def test_the_other_side_falls_silent(pair: tuple[socket.socket, socket.socket], sent: bytes) -> None:
    pair[1].sendall(sent)
    with pytest.raises(frames.Late):
        frames.receive(pair[0], soon())


def test_a_trickle_is_ended_by_the_deadline(pair: tuple[socket.socket, socket.socket]) -> None:
    # Each byte comes well within the deadline; the deadline is the whole frame's.
    stop = threading.Event()

    def trickle() -> None:
        pair[1].sendall(struct.pack(">I", 10_000))
        while not stop.wait(0.005):
            pair[1].send(b" ")

    sender = threading.Thread(target=trickle)
    sender.start()
    try:
        with pytest.raises(frames.Late):
            frames.receive(pair[0], soon())
    finally:
        stop.set()
        sender.join()


def test_a_frame_that_came_in_time_counts_though_it_is_looked_at_late(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """A reader that was kept from its socket by another submission's answer must not cost this one its mark."""
    frames.send(pair[1], 1)
    assert frames.receive(pair[0], time.monotonic() - 1) == 1


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\0\x02", b"\0\0\0\x021"])
def test_a_frame_that_is_not_whole_when_it_is_looked_at_late_is_late(
    pair: tuple[socket.socket, socket.socket], sent: bytes
) -> None:
    pair[1].sendall(sent)
    with pytest.raises(frames.Late):
        frames.receive(pair[0], time.monotonic() - 1)


def test_a_frame_may_be_held_to_a_smaller_limit(pair: tuple[socket.socket, socket.socket]) -> None:
    frames.send(pair[1], "x" * 98)
    assert frames.receive(pair[0], soon(), limit=100) == "x" * 98
    frames.send(pair[1], "x" * 99)
    with pytest.raises(frames.BadFrame, match="more than 100"):
        frames.receive(pair[0], soon(), limit=100)


def test_a_frame_of_too_many_small_lists_is_refused_before_it_is_read(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    data = b"[" + b"[]," * frames.CONTAINERS + b"0]"
    sender = threading.Thread(target=pair[1].sendall, args=(len(data).to_bytes(4, "big") + data,))
    sender.start()
    with pytest.raises(frames.BadFrame, match="too many lists"):
        frames.receive(pair[0], time.monotonic() + 60)
    sender.join()


def test_a_side_that_does_not_read_does_not_hold_the_sender(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(frames.Late):
        frames.send(pair[1], "x" * 2**23, soon())


def test_sending_to_a_side_that_is_gone(pair: tuple[socket.socket, socket.socket]) -> None:
    pair[0].close()
    with pytest.raises(frames.Closed):
        frames.send(pair[1], 1, soon())


def test_descriptors_sent_along_are_not_taken(pair: tuple[socket.socket, socket.socket]) -> None:
    body = json.dumps({"a": 1}).encode()
    with open("/dev/null", "rb") as null:
        socket.send_fds(pair[1], [struct.pack(">I", len(body)) + body], [null.fileno()] * 3)
    assert frames.receive(pair[0], soon()) == {"a": 1}


# -------------------------------------------------------------------------------- reader


def test_a_reader_takes_many_small_frames_and_one_large_one(pair: tuple[socket.socket, socket.socket]) -> None:
    large = "x" * 10**6
    messages = [*({"number": number} for number in range(500)), large, {"after": large[:10]}]
    sender = threading.Thread(target=lambda: [frames.send(pair[1], message) for message in messages])
    sender.start()
    reader, deadline = frames.Reader(pair[0]), time.monotonic() + 20
    assert [reader.message(deadline) for _ in messages] == messages
    sender.join()


def test_a_reader_says_what_a_single_frame_says(pair: tuple[socket.socket, socket.socket]) -> None:
    reader = frames.Reader(pair[0])
    raw(pair[1], b"[1]")
    raw(pair[1], b"no JSON")
    raw(pair[1], b'"' + b"x" * 100 + b'"')
    raw(pair[1], b"[2", 10)
    assert reader.message(soon()) == [1]
    with pytest.raises(frames.BadFrame):
        reader.message(soon())
    with pytest.raises(frames.BadFrame, match="more than 50"):
        reader.message(soon(), 50)
    whole = frames.Reader(pair[0])
    with pytest.raises(frames.Late):
        whole.message(soon())


def test_a_reader_gives_what_came_before_the_end_and_then_says_so(pair: tuple[socket.socket, socket.socket]) -> None:
    frames.send(pair[1], "first")
    frames.send(pair[1], "second")
    raw(pair[1], b'"thi', 9)
    pair[1].close()
    reader = frames.Reader(pair[0])
    assert [reader.message(soon()), reader.message(soon())] == ["first", "second"]
    with pytest.raises(frames.Closed):
        reader.message(soon())


def test_what_came_in_time_counts_although_it_is_read_late(pair: tuple[socket.socket, socket.socket]) -> None:
    frames.send(pair[1], "in time")
    assert frames.Reader(pair[0]).message(time.monotonic() - 1) == "in time"
