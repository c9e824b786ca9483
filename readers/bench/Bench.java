import atf.format.IndexFile;
import atf.format.ReadOption;
import atf.format.Records.IndexEvent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Compares the Java reader with hand-written loads, like bench.c. */
final class Bench {
    private static long time;
    private static long[] kinds;

    public static void main(String[] arguments) throws Exception {
        Path path = Path.of(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        IndexFile file = IndexFile.open(path, ReadOption.values()[0]);
        ByteBuffer bytes;
        try (FileChannel channel = FileChannel.open(path)) {
            bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
        long[] sums = new long[4];
        for (int round = 0; round < rounds; round++) {
            double typed = timed(() -> byHand(bytes));
            sums[0] = time;
            sums[1] = kinds[1];
            double generated = timed(() -> byReader(file));
            sums[2] = time;
            sums[3] = kinds[1];
            System.out.printf("%.6f %.6f%n", typed, generated);
        }
        if (sums[0] != sums[2] || sums[1] != sums[3]) {
            throw new AssertionError("the sums differ");
        }
        System.out.println(Long.toUnsignedString(sums[0]) + " " + sums[1]);
    }

    private static double timed(Runnable work) {
        long start = System.nanoTime();
        work.run();
        return (System.nanoTime() - start) / 1e9;
    }

    private static void byHand(ByteBuffer bytes) {
        long total = 0;
        long[] counts = new long[4];
        for (int at = 64; at + 64 < bytes.limit(); at += 32) {
            total += bytes.getLong(at);
            counts[bytes.getInt(at + 20) & 3]++;
        }
        time = total;
        kinds = counts;
    }

    private static void byReader(IndexFile file) {
        long total = 0;
        long[] counts = new long[4];
        for (IndexEvent event : file) {
            total += event.timestampNs();
            counts[(int) event.eventKind() & 3]++;
        }
        time = total;
        kinds = counts;
    }
}
