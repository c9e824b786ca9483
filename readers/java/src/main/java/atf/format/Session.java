package atf.format;

import atf.format.Records.IndexEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The threads of a traced process. A session is safe for use by multiple threads.
 *
 * @param folder the folder with the threads' folders
 * @param threads the threads by their ids
 * @param manifest the parsed manifest.json, unless it is absent or cannot be used
 * @param manifestError why manifest.json cannot be used, if it exists but is invalid
 */
public record Session(
        Path folder,
        List<ThreadFiles> threads,
        Optional<Manifest> manifest,
        Optional<IOException> manifestError) {
    private static final Pattern PROCESS = Pattern.compile("pid_[0-9]+");
    private static final Pattern THREAD = Pattern.compile("thread_[0-9]+");

    /** An event of a session, with its thread and its position there. */
    public record Merged(long threadId, long seq, IndexEvent event) {}

    /** The links without a link back: in the index, and in the details. */
    public record LooseLinks(long dangling, long orphans) {}

    /**
     * Opens a session's folder, or a folder that contains the folder of one process. Invalid files
     * are listed in the {@code refused} of their thread, and an error in the manifest is in {@code
     * manifestError}.
     *
     * @throws IOException if a folder or a file cannot be opened
     */
    public static Session open(Path path, ReadOption... options) throws IOException {
        Path folder = process(path);
        List<ThreadFiles> threads = new ArrayList<>();
        for (String name : names(folder)) {
            String digits = name.substring(name.indexOf('_') + 1).replaceFirst("^0+(?=.)", "");
            if (!THREAD.matcher(name).matches() || digits.length() > 10) {
                continue;
            }
            long id = Long.parseLong(digits);
            if (id < 1L << 32) {
                threads.add(thread(id, folder.resolve(name), options));
            }
        }
        threads.sort(Comparator.comparingLong(ThreadFiles::id));
        Optional<Manifest> manifest = Optional.empty();
        Optional<IOException> manifestError = Optional.empty();
        try {
            manifest = manifest(folder.resolve("manifest.json"));
        } catch (IOException error) {
            manifestError = Optional.of(error);
        }
        return new Session(folder, List.copyOf(threads), manifest, manifestError);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    /** Returns the folder of the only process, if a folder itself is not a session. */
    private static Path process(Path folder) throws IOException {
        List<String> names = names(folder);
        List<String> processes = names.stream().filter(PROCESS.asMatchPredicate()).toList();
        boolean isSession = names.contains("manifest.json")
                || names.stream().anyMatch(THREAD.asMatchPredicate());
        return processes.size() == 1 && !isSession ? folder.resolve(processes.get(0)) : folder;
    }

    private static Optional<Manifest> manifest(Path path) throws IOException {
        if (Files.notExists(path, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        if (!isFile(path)) {
            throw new IOException(path + ": not a regular file");
        }
        return Optional.of(Manifest.parse(Files.readAllBytes(path)));
    }

    /** Returns whether a regular file exists. A symlink may lead out of the session. */
    private static boolean isFile(Path path) {
        return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    private interface Reader<T> {
        T open(Path path, ReadOption... options) throws IOException;
    }

    private static ThreadFiles thread(long id, Path folder, ReadOption... options)
            throws IOException {
        List<FormatException> refused = new ArrayList<>();
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return new ThreadFiles(id, Optional.empty(), Optional.empty(), List.of());
        }
        Optional<IndexFile> index =
                file(folder.resolve("index.atf"), IndexFile::open, refused, options);
        Optional<DetailFile> detail =
                file(folder.resolve("detail.atf"), DetailFile::open, refused, options);
        if (index.isPresent() && detail.isPresent() && index.get().wire() != detail.get().wire()) {
            String name = detail.get().source().name();
            String field = "detail header, version";
            String expected = index.get().wire() + ", as in index.atf";
            refused.add(new FormatException(name, 5, field, expected, "ATF-LINK-008"));
            detail = Optional.empty();
        }
        return new ThreadFiles(id, index, detail, List.copyOf(refused));
    }

    private static <T> Optional<T> file(
            Path path, Reader<T> reader, List<FormatException> refused, ReadOption... options)
            throws IOException {
        try {
            return isFile(path) ? Optional.of(reader.open(path, options)) : Optional.empty();
        } catch (FormatException error) {
            refused.add(error);
            return Optional.empty();
        }
    }

    /**
     * Returns the events of all threads by time, then by thread and position, without holes. It keeps
     * no events in memory.
     */
    public Iterable<Merged> merged() {
        return () -> new MergedEvents(threads);
    }

    /**
     * A thread's files.
     *
     * @param id the thread's id, from the name of its folder
     * @param index the index, unless it is absent or refused
     * @param detail the details, unless they are absent or refused
     * @param refused why files were refused
     */
    public record ThreadFiles(
            long id,
            Optional<IndexFile> index,
            Optional<DetailFile> detail,
            List<FormatException> refused) {
        /** Returns whether each existing file was finalized, and no event is missing. */
        public boolean isWhole() {
            return refused.isEmpty()
                    && index.map(own -> own.isFinalized() && !own.hasHoles()).orElse(false)
                    && detail.map(DetailFile::isFinalized).orElse(true);
        }

        /** Counts the links without a link back. */
        public LooseLinks looseLinks() {
            Map<Long, Long> forward = new HashMap<>();
            index.ifPresent(own -> {
                for (long seq = 0; seq < own.count(); seq++) {
                    long from = seq;
                    if (!own.isHole(seq)) {
                        own.get(seq).detailSeq().ifPresent(to -> forward.put(from, to));
                    }
                }
            });
            Map<Long, Long> back = new HashMap<>();
            detail.ifPresent(own -> own.forEach(
                    event -> back.put((long) back.size(), event.header().indexSeq())));
            return new LooseLinks(unanswered(forward, back), unanswered(back, forward));
        }

        private static long unanswered(Map<Long, Long> links, Map<Long, Long> answers) {
            return links.entrySet().stream()
                    .filter(link -> !link.getKey().equals(answers.get(link.getValue())))
                    .count();
        }
    }
}
