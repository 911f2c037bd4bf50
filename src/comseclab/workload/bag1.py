"""ROS 1 bags in bounded memory.

rosbags' reader keeps an index entry of some 180 B for every message of the bag. This one leaves the index alone and
reads the chunks it comes to: memory is that of one chunk, and opening takes no longer for more messages.
"""

import heapq
from collections.abc import Collection, Generator
from io import BytesIO
from typing import NamedTuple

from rosbags.interfaces import Connection
from rosbags.rosbag1 import Reader
from rosbags.rosbag1.reader import ChunkInfo, Header, IndexData, RecordType, read_bytes, read_uint32


class _Found(NamedTuple):
    time_ns: int
    chunk: int
    connection: int
    data: bytes


class ChunkwiseReader(Reader):
    """A ROS 1 bag read chunk by chunk, in order of time."""

    def open(self) -> None:
        super().open()
        counts = [info.connection_counts for info in self.chunk_infos]
        self.connections = [
            one._replace(msgcount=sum(count.get(one.id, 0) for count in counts)) for one in self.connections
        ]

    def read_index_data(self, pos: int, indexes: dict[int, list[IndexData]]) -> None:
        """Nothing: the index is not needed."""

    def messages(
        self, connections: Collection[Connection] = (), start: int | None = None, stop: int | None = None
    ) -> Generator[tuple[Connection, int, bytes], None, None]:
        """The messages of `connections` from `start` to before `stop`, ns. Raises rosbags' errors at damage."""
        wanted = {one.id: one for one in connections or self.connections}
        chunks = [
            self._chunk(info, wanted) for info in self.chunk_infos if wanted.keys() & info.connection_counts.keys()
        ]
        for found in heapq.merge(*chunks):
            if (
                found.connection in wanted
                and (start is None or start <= found.time_ns)
                and (stop is None or found.time_ns < stop)
            ):
                yield wanted[found.connection], found.time_ns, found.data

    def _chunk(self, info: ChunkInfo, wanted: Collection[int]) -> Generator[_Found, None, None]:
        """A chunk's messages; a mark at its first time comes before them, so that it is loaded only when reached."""
        assert self.bio
        yield _Found(info.start_time, info.pos, -1, b"")
        chunk = self.chunks[info.pos]
        self.bio.seek(chunk.datapos)
        content = BytesIO(chunk.decompressor(read_bytes(self.bio, chunk.datasize)))
        size = content.getbuffer().nbytes
        found = []
        while content.tell() < size:
            header = Header.read(content)
            data = read_bytes(content, read_uint32(content))
            if header.get_uint8("op") == RecordType.MSGDATA and (connection := header.get_uint32("conn")) in wanted:
                found.append(_Found(header.get_time("time"), info.pos, connection, data))
        yield from sorted(found, key=lambda message: message.time_ns)
