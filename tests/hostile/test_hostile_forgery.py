"""Forged words: frames, reports and observations that the grader's side must not believe."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from attack import in_call, in_cell
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

FORGER = """\
    import json, struct
    SOCKET = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}"))
    def raw(data):
        os.write(SOCKET, struct.pack(">I", len(data)) + data)
    def frame(message):
        raw(json.dumps(message).encode())
    def question():
        here = sys._getframe()
        while "token" not in here.f_locals or "number" not in here.f_locals:
            here = here.f_back
        return here.f_locals
    def begin():
        return f"{question()['token']}{question()['number']:06}=".encode()
    def seen(returned, after):
        return {"outcomes": [{"returned": returned, "after": after}]}
    def answer(returned=None, after={}, **more):
        raw(begin() + json.dumps({**seen(returned, after), **more}).encode())
    LOADED = {"defined": True, "callable": True, "errors": [], "notes": [], "output": ""}
    """
HONESTLY = "return honest(grads, scale, growth_factor, backoff_factor)"
FORM = {"says": "not in the expected form"}


def early(name: str, source: str, **more: object):
    return in_cell(name, dedent(FORGER) + source, **{"earns": 0, "statuses": "crashed", **FORM, **more})


def late(name: str, body: str, **more: object):
    return in_call(name, body, before=FORGER, **{**FORM, **more})


def claim(name: str, source: str) -> object:
    body = "kept = [g.clone() for g in grads]\nresult = honest(grads, scale, growth_factor, backoff_factor)\n"
    body += "for g in grads: g.div_(scale)\ntry: during(kept)\nexcept Exception: pass\nreturn result"
    before = f"def during(kept): pass\nprint('TRIED')\ntry:\n{indent(dedent(source), '    ')}\nexcept Exception: pass"
    return in_call(name, body, before=before, earns=9, statuses="passed failed")


ATTACKS = (
    early("a verdict", "frame({'passed': True, 'score': 10})"),
    early("a report before its time", "frame({'loaded': LOADED})"),
    early(
        "a report and ten answers",
        "frame({'loaded': LOADED}); [raw(b'%06d={}' % n) for n in range(10)]",
    ),
    early("a report that says passed", "frame({'loaded': {**LOADED, 'passed': True}})"),
    early("a hit that is no one's", "frame({'forbidden': [[1, 1, 'x']]})"),
    early("a length of four gigabytes", "os.write(SOCKET, b'\\xff' * 4)"),
    early("a pickle", "raw(b'\\x80\\x04cposix\\nsystem\\n(S\"true\"\\ntR.')"),
    early("a report of nan", "raw(b'{\"loaded\": NaN}')"),
    early("a report nested beyond reason", "raw(b'[' * 10**5 + b']' * 10**5)"),
    early("a number of 100,000 digits", "raw(b'{\"loaded\": ' + b'9' * 10**5 + b'}')"),
    late("a verdict for an answer", f"frame({{'passed': True}})\n{HONESTLY}"),
    late(
        "every answer twice",
        f"r = {HONESTLY.removeprefix('return ')}\nanswer({{'tuple': [None, r[1]]}}, {{'grads': [g.tolist() for g in grads]}})\nreturn r",
        statuses="failed crashed",
    ),
    late("an answer with one key more", "answer(passed=True)\nos._exit(0)"),
    late(
        "an answer that names its own end",
        'raw(begin() + b\'{"outcomes": [], "ended": "", "whole": true}\')\nos._exit(0)',
    ),
    late(
        "an answer with a key twice",
        "raw(begin() + json.dumps(seen(None, {})).encode()[:-1] + b', \"outcomes\": 1}')\nos._exit(0)",
    ),
    late(
        "no outcomes at all",
        "raw(begin() + b'{\"outcomes\": []}')\nos._exit(0)",
        says="another number of calls",
    ),
    late("a run of 10**15 elements", "answer({'runs': [[1.0, 10**15]]})\nos._exit(0)"),
    late(
        "a bare nan",
        'raw(begin() + b"NaN")\nos._exit(0)',
    ),
    late(
        "an infinite number",
        "raw(begin() + json.dumps(seen(0, {})).encode().replace(b': 0', b': 1e999'))\nos._exit(0)",
    ),
    in_cell(
        "JSON that says what it likes",
        """\
        import json
        json.dumps = lambda *a, **k: '{"passed": true}'
        """,
    ),
    in_cell(
        "the encoder of observations, patched",
        """\
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("autograder") or hasattr(module, "encode_observation"):
                for name in ("encode_observation", "encode", "observe"):
                    if hasattr(module, name):
                        setattr(module, name, lambda *a, **k: {"outcomes": [{"returned": {"passed": True}, "after": {}}]})
        frames = sys._getframe()
        while frames:
            if "encode_observation" in frames.f_globals:
                frames.f_globals["encode_observation"] = lambda *a: {"passed": True}
            frames = frames.f_back
        """,
    ),
    in_cell(
        "the frames, patched",
        """\
        from autograder.sandbox import frames
        send = frames.send
        frames.send = lambda sock, message, *a: send(sock, {**message, "passed": True})
        """,
    ),
    in_cell(
        "a report that there is a function, where there is none",
        """\
        from autograder.sandbox import cells
        cells.entry_of = lambda *a: (lambda **k: None)
        """,
    ),
    in_cell(
        "all that was forbidden, allowed",
        """\
        from autograder.sandbox import forbid
        forbid.guard = forbid.find = lambda *a, **k: []
        """,
    ),
    # Each divides its inputs in place, and then makes the observer say that it did not: by the one point that this
    # costs it is seen that the observer says what is so.
    claim(
        "inputs are as they were, by the module of scenarios",
        """\
        from autograder import models, scenarios
        def call(function, arguments, device="cpu"):
            made = scenarios.build(dict(arguments))
            return models.Outcome(returned=scenarios.plain(function(**made)), after=dict(arguments))
        for name in list(scenarios.SCENARIOS): scenarios.SCENARIOS[name] = call
        """,
    ),
    claim(
        "inputs are as they were, by a module found in another way",
        """\
        import importlib
        for name in ("scenarios", "tensors", "observations", "values", "sandbox.frames", "sandbox.confined"):
            try:
                module = sys.modules.get(f"autograder.{name}") or importlib.import_module(f"autograder.{name}")
            except ImportError:
                continue
            for known in ("plain", "_plain_tensor", "_tensor_of", "encode", "send"):
                setattr(module, known, lambda *a, **k: 1.0)
        """,
    ),
    claim(
        "inputs are as they were, by the observer's locals",
        """\
        def during(kept):
            here = sys._getframe()
            while here := here.f_back:
                for name in ("built", "arguments"):
                    found = here.f_locals.get(name)
                    if isinstance(found, dict) and "grads" in found: found["grads"] = kept
        """,
    ),
    claim(
        "inputs are as they were, by the observer's globals",
        """\
        def during(kept):
            here = sys._getframe()
            while here := here.f_back:
                for name in ("plain", "_plain_items", "_plain_tensor", "_tensor_of", "encode", "encode_observation"):
                    for write in (dict.__setitem__, lambda table, name, value: table.update({name: value})):
                        if name in here.f_globals and here.f_globals is not globals():
                            write(here.f_globals, name, lambda *a, **k: 1.0)
        """,
    ),
    claim(
        "inputs are as they were, by the observer's builtins",
        """\
        import builtins
        real = dict
        def during(kept):
            def lie(*args, **kwargs):
                made = real(*args, **kwargs)
                return real(made, grads=kept) if "grads" in made else made
            builtins.dict = lie
            here = sys._getframe()
            while here := here.f_back:
                if here.f_globals is not globals(): here.f_builtins["dict"] = lie
        """,
    ),
    claim(
        "inputs are as they were, by torch's reader",
        """\
        import torch
        real = torch.Tensor.tolist, torch.Tensor.detach
        def during(kept):
            values = [real[0](k) for k in kept]
            torch.Tensor.tolist = lambda t: values[0]
            torch.Tensor.detach = lambda t: kept[0]
        """,
    ),
    claim(
        "inputs are as they were, by the writer of JSON",
        """\
        import json, json.encoder
        real, first = json.dumps, []
        def lie(message, *args, **kwargs):
            for one in message.get("outcomes", []): one["after"] = first[-1]
            return real(message, *args, **kwargs)
        json.dumps = lie
        json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda self, message, *a: lie(message)
        json.encoder.c_make_encoder = json.encoder._make_iterencode = lambda *a: lambda message, level: (lie(message),)
        def during(kept): first.append({"grads": [k.tolist() for k in kept]})
        """,
    ),
    claim(
        "inputs are as they were, by the socket",
        """\
        import socket, struct
        def lie(self, data, *args):
            return os.write(self.fileno(), data.replace(b'"after"', b'"later"'))
        socket.socket.sendall = socket.socket.send = lie
        real = struct.pack
        struct.pack = lambda form, size: real(form, size + 1)
        """,
    ),
    claim(
        "inputs are as they were, by a trace",
        """\
        def during(kept):
            def trace(frame, event, argument):
                if frame.f_code.co_name in ("plain", "_plain_items") and event == "call":
                    name = frame.f_code.co_varnames[0]
                    if type(frame.f_locals[name]) is dict: frame.f_locals[name] = {"grads": kept}
                return trace
            sys.settrace(trace)
            sys.setprofile(trace)
            sys.settrace = sys.setprofile = lambda *a: None
        """,
    ),
    claim(
        "inputs are as they were, by what the collector knows",
        """\
        import gc
        for thing in gc.get_objects():
            if type(thing) is dict and thing is not globals() and "_plain_tensor" in thing:
                thing["_plain_tensor"] = thing["_tensor_of"] = lambda *a, **k: 1.0
        """,
    ),
)
