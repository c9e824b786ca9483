import atf.format.IndexFile;
import atf.format.Records.IndexEvent;
import atf.format.Records.IndexFooter;
import atf.format.Records.IndexHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Tests a sparse index of 3 GiB, in which events cross the ends of the mapped buffers. */
final class LargeFileTest {
    private static final int START = IndexHeader.SIZE + 8;
    private static final long COUNT = (3L << 30) / IndexEvent.SIZE;
    private static final long END = START + COUNT * IndexEvent.SIZE;

    private LargeFileTest() {}

    /** Writes a record: its first bytes, and then pairs of an offset and a 64-bit number. */
    private static void write(FileChannel file, long at, int size, byte[] magic, long... fields)
            throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN).put(magic);
        for (int i = 0; i < fields.length; i += 2) {
            bytes.putLong((int) fields[i], fields[i + 1]);
        }
        file.write(bytes.rewind(), at);
    }

    private static void check(boolean isTrue, String what) {
        if (!isTrue) {
            throw new AssertionError(what);
        }
    }

    public static void main(String[] arguments) throws IOException {
        Path path = Files.createTempFile("index", ".atf");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            // Version 2: event_size, event_count, events_offset and footer_offset.
            byte[] header = {'A', 'T', 'I', '2', 1, 2, 1, 4};
            long size = (long) IndexEvent.SIZE << 32;
            write(file, 0, IndexHeader.SIZE, header, 16, size, 24, COUNT, 32, START, 40, END);
            for (long gib = 1; gib <= 3; gib++) {
                long seq = ((gib << 30) - START) / IndexEvent.SIZE;
                long at = START + seq * IndexEvent.SIZE;
                write(file, at, IndexEvent.SIZE, new byte[0], 0, gib, 24, 1);
            }
            byte[] footer = {'2', 'I', 'T', 'A'};
            write(file, END, IndexFooter.SIZE, footer, 8, COUNT, 32, END - START);
            IndexFile index = IndexFile.open(path);
            check(index.isFinalized(), "footer");
            long sum = 0;
            long count = 0;
            for (IndexEvent event : index) {
                sum += event.timestampNs();
                count++;
            }
            check(count == COUNT && index.count() == COUNT, "count");
            check(sum == 6, "timestamps");
            check(index.get(COUNT - 1).timestampNs() == 0, "the last event");
        } finally {
            Files.delete(path);
        }
    }
}
