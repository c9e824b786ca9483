package atf.format;

/** Changes how files are read. */
public enum ReadOption {
    /** Skips the computation of the events' checksum. */
    SKIP_CHECKSUM
}
