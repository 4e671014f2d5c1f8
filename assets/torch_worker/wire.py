"""Frames and MessagePack, as attnscope's workers speak them: a little-endian length of four bytes, then one value."""
import struct

MOST_BYTES = 256 << 20  # of a frame's payload
MOST_VALUES = 1 << 18  # in a payload: each becomes an object of many bytes here, however short it was


def pack(value):
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value, out):
    if value is None:
        out.append(0xC0)
    elif isinstance(value, bool):
        out.append(0xC3 if value else 0xC2)
    elif isinstance(value, int):
        _pack_int(value, out)
    elif isinstance(value, float):
        out += b"\xcb" + struct.pack(">d", value)
    elif isinstance(value, str):
        text = value.encode("utf-8", "replace")
        _head(len(text), out, (0xD9, 0xDA, 0xDB), 0xA0, 31)
        out += text
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        _head(len(data), out, (0xC4, 0xC5, 0xC6))
        out += data
    elif isinstance(value, (list, tuple)):
        _head(len(value), out, (None, 0xDC, 0xDD), 0x90, 15)
        for item in value:
            _pack(item, out)
    elif isinstance(value, dict):
        _head(len(value), out, (None, 0xDE, 0xDF), 0x80, 15)
        for key, item in value.items():
            _pack(str(key), out)
            _pack(item, out)
    else:
        raise TypeError(f"{type(value).__name__} has no place in a message")


def _pack_int(value, out):
    if value < 0:
        out += b"\xd3" + struct.pack(">q", value)
    elif value < 0x80:
        out.append(value)
    else:
        out += b"\xcf" + struct.pack(">Q", value)


def _head(length, out, tags, small=None, small_most=-1):
    if small is not None and length <= small_most:
        out.append(small | length)
    elif tags[0] is not None and length < 1 << 8:
        out += bytes((tags[0], length))
    elif length < 1 << 16:
        out += bytes((tags[1],)) + struct.pack(">H", length)
    else:
        out += bytes((tags[2],)) + struct.pack(">I", length)


# Tags with a fixed width: struct's format and its size.
_FIXED = {0xCA: (">f", 4), 0xCB: (">d", 8), 0xCC: (">B", 1), 0xCD: (">H", 2), 0xCE: (">I", 4), 0xCF: (">Q", 8),
          0xD0: (">b", 1), 0xD1: (">h", 2), 0xD2: (">i", 4), 0xD3: (">q", 8)}
# Tags followed by a length: its format and size, and the type that it is the length of.
_LONG = {0xC4: (">B", 1, "bin"), 0xC5: (">H", 2, "bin"), 0xC6: (">I", 4, "bin"), 0xD9: (">B", 1, "str"),
         0xDA: (">H", 2, "str"), 0xDB: (">I", 4, "str"), 0xDC: (">H", 2, "list"), 0xDD: (">I", 4, "list"),
         0xDE: (">H", 2, "map"), 0xDF: (">I", 4, "map")}


def unpack(data):
    """The one value of a payload. ValueError if it is malformed or anything follows it."""
    try:
        value, end = _unpack(memoryview(data), 0, 0, [MOST_VALUES])
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"malformed message: {error}") from error
    if end != len(data):
        raise ValueError("malformed message: bytes after its end")
    return value


def _unpack(data, at, depth, left):
    if depth > 64:
        raise ValueError("malformed message: nested deeper than 64 levels")
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"malformed message: more than {MOST_VALUES} values")
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 0x100, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if tag in _FIXED:
        form, size = _FIXED[tag]
        return struct.unpack_from(form, data, at)[0], at + size
    if tag in _LONG:
        form, size, kind = _LONG[tag]
        length = struct.unpack_from(form, data, at)[0]
        at += size
    elif tag < 0xC0:
        kind, length = ("map", tag & 15) if tag < 0x90 else ("list", tag & 15) if tag < 0xA0 else ("str", tag & 31)
    else:
        raise ValueError(f"malformed message: a type that attnscope does not use (0x{tag:02x})")
    if kind in ("bin", "str"):
        if length > len(data) - at:
            raise ValueError("malformed message: it ends too early")
        piece = bytes(data[at:at + length])
        return (piece if kind == "bin" else piece.decode("utf-8")), at + length
    if kind == "list":
        items = []
        for _ in range(length):
            item, at = _unpack(data, at, depth + 1, left)
            items.append(item)
        return items, at
    entries = {}
    for _ in range(length):
        key, at = _unpack(data, at, depth + 1, left)
        entries[key], at = _unpack(data, at, depth + 1, left)
    return entries, at


def write_frame(stream, value):
    payload = pack(value)
    if len(payload) > MOST_BYTES:
        raise ValueError(f"a frame of {len(payload)} bytes is over the limit of {MOST_BYTES}")
    stream.write(struct.pack("<I", len(payload)) + payload)
    stream.flush()


def read_frame(stream):
    """The next value, or None at the end of the stream."""
    head = _read(stream, 4)
    if head is None:
        return None
    length = struct.unpack("<I", head)[0]
    if length > MOST_BYTES:
        raise ValueError(f"a frame of {length} bytes is over the limit of {MOST_BYTES}")
    payload = _read(stream, length)
    return None if payload is None else unpack(payload)


def _read(stream, count):
    pieces = bytearray()
    while len(pieces) < count:
        piece = stream.read(count - len(pieces))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)
