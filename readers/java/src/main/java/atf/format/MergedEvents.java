package atf.format;

import atf.format.Session.Merged;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;

/** Merges the events of threads by time, then by thread and position, without holes. */
final class MergedEvents implements Iterator<Merged> {
    private final PriorityQueue<Run> runs = new PriorityQueue<>();

    MergedEvents(List<Session.ThreadFiles> threads) {
        threads.forEach(thread -> thread.index().ifPresent(index -> add(thread.id(), index)));
    }

    /** Divides a thread into runs. */
    private void add(long threadId, IndexFile index) {
        Run run = null;
        long latest = 0;
        for (long seq = 0; seq < index.count(); seq++) {
            if (index.isHole(seq)) {
                continue;
            }
            long time = index.get(seq).timestampNs();
            if (run == null || Long.compareUnsigned(time, latest) < 0) {
                run = new Run(threadId, index, runs.size(), seq, time);
                runs.add(run);
            }
            run.last = seq;
            latest = time;
        }
    }

    @Override
    public boolean hasNext() {
        return !runs.isEmpty();
    }

    @Override
    public Merged next() {
        Run run = runs.remove();
        Merged merged = new Merged(run.threadId, run.seq, run.index.get(run.seq));
        if (run.seq < run.last) {
            do {
                run.seq++;
            } while (run.index.isHole(run.seq));
            run.time = run.index.get(run.seq).timestampNs();
            runs.add(run);
        }
        return merged;
    }

    /**
     * Successive events of a thread whose times do not decrease: usually all of them. Its rank is in
     * the order of threads and positions.
     */
    private static final class Run implements Comparable<Run> {
        private final long threadId;
        private final IndexFile index;
        private final int rank;
        private long seq;
        private long last;
        private long time;

        Run(long threadId, IndexFile index, int rank, long seq, long time) {
            this.threadId = threadId;
            this.index = index;
            this.rank = rank;
            this.seq = seq;
            this.time = time;
        }

        @Override
        public int compareTo(Run other) {
            int byTime = Long.compareUnsigned(time, other.time);
            return byTime != 0 ? byTime : Integer.compare(rank, other.rank);
        }
    }
}
