package atf.format;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The bytes of a file of any size, mapped or in memory. Threads may share a source.
 *
 * <p>A file stays mapped until the garbage collector finds that neither the source nor a record or
 * view of it is in use; until then, Windows does not delete the file. It must not be truncated while
 * it is mapped: the virtual machine then throws an {@link InternalError} where the bytes are read.
 * To read such a file, pass its bytes to {@link #of}.
 */
public final class Source {
    private static final int SHIFT = 30;

    /** The longest view that {@link #slice} returns, in bytes. */
    private static final int STEP = 1 << SHIFT;

    /** The size in bytes below which files are read: a process can map only about 65,000. */
    private static final int SMALL = 1 << 16;

    /** The maximum number of buffers per file: 16 TiB. The virtual machine needs mappings too. */
    private static final int MOST_BUFFERS = 1 << 14;

    /** Buffer i begins at i * STEP and overlaps with the next one, so no record crosses an end. */
    private final ByteBuffer[] buffers;

    private final String name;
    private final long size;

    /** The offset after the last byte that is not 0. */
    private final long nonzero;

    private Source(String name, ByteBuffer[] buffers, long size) {
        this.name = name;
        this.buffers = buffers;
        this.size = size;
        this.nonzero = scanBack(size);
    }

    /**
     * Maps a file into memory, or reads it if it is small.
     *
     * @throws IOException if the file cannot be opened or mapped, or has 16 TiB or more
     */
    public static Source map(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = file.size();
            if (size < SMALL) {
                return of(path.toString(), Files.readAllBytes(path));
            }
            if (size >>> SHIFT >= MOST_BUFFERS) {
                throw new IOException(path + ": cannot map " + size + " bytes");
            }
            ByteBuffer[] buffers = new ByteBuffer[(int) (size >>> SHIFT) + 1];
            for (int i = 0; i < buffers.length; i++) {
                long start = (long) i << SHIFT;
                long length = Math.min(size - start, Integer.MAX_VALUE);
                buffers[i] = file.map(FileChannel.MapMode.READ_ONLY, start, length);
                buffers[i].order(ByteOrder.LITTLE_ENDIAN);
            }
            return new Source(path.toString(), buffers, size);
        }
    }

    /** Views the bytes of an array, which must not change. The name is used in errors. */
    public static Source of(String name, byte[] bytes) {
        ByteBuffer whole = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer[] buffers = new ByteBuffer[(bytes.length >>> SHIFT) + 1];
        for (int i = 0; i < buffers.length; i++) {
            int start = i << SHIFT;
            buffers[i] = whole.slice(start, bytes.length - start).order(ByteOrder.LITTLE_ENDIAN);
        }
        return new Source(name, buffers, bytes.length);
    }

    /** Returns the name used in errors. */
    public String name() {
        return name;
    }

    /** Returns the size in bytes. */
    public long size() {
        return size;
    }

    /**
     * Returns a read-only view of bytes, little-endian.
     *
     * @throws IndexOutOfBoundsException if they are not all in the file, or more than 1 GiB
     */
    public ByteBuffer slice(long from, long length) {
        if (from < 0 || length < 0 || length > STEP || from > size - length) {
            throw new IndexOutOfBoundsException(name + ": " + length + " bytes at " + from);
        }
        ByteBuffer view = buffer(from).slice(position(from), (int) length).asReadOnlyBuffer();
        return view.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the buffer that contains the entire record at an offset in the file. */
    ByteBuffer buffer(long at) {
        return buffers[(int) (at >>> SHIFT)];
    }

    /** Returns the position of an offset in its buffer. */
    static int position(long at) {
        return (int) at & STEP - 1;
    }

    /** Returns a field of the record at an offset. Bytes after the end of the file are 0. */
    long read(long at, Place place) {
        long start = Numbers.add(at, place.offset());
        long number = 0;
        if (start <= size - 8) {
            number = buffer(start).getLong(position(start));
        } else {
            for (int i = 0; i < 8 && start < size - i; i++) {
                number |= byteAt(start + i) << 8 * i;
            }
        }
        if (place.width() < 8) {
            return number & (1L << 8 * place.width()) - 1;
        }
        return number < 0 ? Numbers.NOWHERE : number;
    }

    private long byteAt(long at) {
        return at < size ? buffer(at).get(position(at)) & 0xFF : 0;
    }

    boolean isZero(long from, long to) {
        for (long at = from; at < Math.min(to, nonzero); at++) {
            if (byteAt(at) != 0) {
                return false;
            }
        }
        return true;
    }

    boolean begins(long from, long to, long number, long width) {
        for (int i = 0; i < width && from < Math.min(to, size) - i; i++) {
            if (byteAt(from + i) != (number >>> 8 * i & 0xFF)) {
                return false;
            }
        }
        return true;
    }

    boolean same(long one, long other, long width) {
        for (int i = 0; i < width; i++) {
            if (byteAt(Numbers.add(one, i)) != byteAt(Numbers.add(other, i))) {
                return false;
            }
        }
        return true;
    }

    long dataEnd(long end) {
        return end >= nonzero ? nonzero : scanBack(end);
    }

    private long scanBack(long end) {
        long at = end;
        while (at >= 8 && buffer(at - 8).getLong(position(at - 8)) == 0) {
            at -= 8;
        }
        while (at > 0 && byteAt(at - 1) == 0) {
            at--;
        }
        return at;
    }

    long crc32c(long from, long to) {
        CRC32C crc = new CRC32C();
        for (long at = from; at < to; at += STEP) {
            crc.update(slice(at, Math.min(to - at, STEP)));
        }
        return crc.getValue();
    }

    long howMany(boolean... truths) {
        long count = 0;
        for (boolean truth : truths) {
            count += truth ? 1 : 0;
        }
        return count;
    }

    FormatException refused(long at, Place place, String field, String expected, String rule) {
        return new FormatException(name, at + place.offset(), field, expected, rule);
    }

    /** The place of a field in its record, and its only valid value. */
    record Place(int offset, int width, long value) {}
}
