package atf.format;

import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/** The arithmetic of the grammar: numbers from 0 to {@link #NOWHERE}, where they saturate. */
final class Numbers {
    /** An offset that no file has. */
    static final long NOWHERE = Long.MAX_VALUE;

    private Numbers() {}

    static long add(long a, long b) {
        long sum = a + b;
        return sum < 0 ? NOWHERE : sum;
    }

    static long sub(long a, long b) {
        return a < b ? NOWHERE : a - b;
    }

    static long mul(long a, long b) {
        long low = a * b;
        return Math.multiplyHigh(a, b) != 0 || low < 0 ? NOWHERE : low;
    }

    static long div(long a, long b) {
        return b == 0 ? NOWHERE : a / b;
    }

    static long rem(long a, long b) {
        return b == 0 ? NOWHERE : a % b;
    }

    static long min(long a, long b) {
        return Math.min(a, b);
    }

    static long max(long a, long b) {
        return Math.max(a, b);
    }

    /** Returns the first offset that meets a condition, or nowhere. */
    static long first(long at, LongUnaryOperator next, LongPredicate isFound) {
        while (!isFound.test(at)) {
            long after = next.applyAsLong(at);
            if (after <= at || after == NOWHERE) {
                return NOWHERE;
            }
            at = after;
        }
        return at;
    }

    /** Returns the last offset before nowhere. */
    static long last(long at, LongUnaryOperator next) {
        while (true) {
            long after = next.applyAsLong(at);
            if (after <= at || after == NOWHERE) {
                return at;
            }
            at = after;
        }
    }

    /** Returns the number of steps to the last offset. */
    static long count(long at, LongUnaryOperator next) {
        for (long steps = 0; ; steps++) {
            long after = next.applyAsLong(at);
            if (after <= at || after == NOWHERE) {
                return steps;
            }
            at = after;
        }
    }
}
