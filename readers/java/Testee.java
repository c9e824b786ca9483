import atf.format.DetailFile;
import atf.format.FormatException;
import atf.format.IndexFile;
import atf.format.Session;
import atf.format.Source;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Answers the conformance kit: testee read PATH, testee serve, or testee accessors. */
final class Testee {
    private Testee() {}

    private static String rejected(String kind) {
        return "{\"kind\":\"%s\",\"verdict\":\"reject\"}".formatted(kind);
    }

    private static String ofFile(
            String kind, boolean isWhole, Object header, List<?> events, Optional<?> footer,
            Optional<Long> checksum, long trailing) {
        String unproven = kind.equals("index") ? "file_size" : "framing";
        return """
                {"kind":"%s","verdict":"%s","header":%s,"footer":%s,"derived":{"event_count":"%d",\
                "count_source":"%s","checksum":"%s","trailing_bytes":"%d"},"events":%s}"""
                .formatted(
                        kind,
                        isWhole ? "accept" : "recover",
                        header,
                        footer.map(Object::toString).orElse("null"),
                        events.size(),
                        footer.isPresent() ? "footer" : unproven,
                        checksum.map(own -> own == 0 ? "absent" : "good").orElse("not_checked"),
                        trailing,
                        events);
    }

    private static <T> List<T> list(Iterable<T> items) {
        List<T> list = new ArrayList<>();
        items.forEach(list::add);
        return list;
    }

    private static String of(IndexFile file) {
        return ofFile(
                "index", file.isFinalized() && !file.hasHoles(), file.header(), list(file), file.footer(),
                file.footer().map(footer -> footer.checksum()), file.source().size() - file.end());
    }

    private static String of(DetailFile file) {
        return ofFile(
                "detail", file.isFinalized(), file.header(), list(file), file.footer(),
                file.footer().map(footer -> footer.checksum()), file.source().size() - file.end());
    }

    private static String of(Session.ThreadFiles thread) {
        Session.LooseLinks links = thread.looseLinks();
        return """
                {"thread_id":%d,"index":%s,"detail":%s,\
                "derived":{"dangling_links":"%d","orphan_details":"%d"}}"""
                .formatted(
                        thread.id(),
                        thread.index().map(Testee::of).orElse(missing(thread, "index")),
                        thread.detail().map(Testee::of).orElse(missing(thread, "detail")),
                        links.dangling(),
                        links.orphans());
    }

    private static String missing(Session.ThreadFiles thread, String kind) {
        boolean isRefused =
                thread.refused().stream().anyMatch(own -> own.file().endsWith(kind + ".atf"));
        return isRefused ? rejected(kind) : "null";
    }

    private static boolean isRejected(Session session) {
        return !session.threads().isEmpty()
                && session.threads().stream().allMatch(own -> own.index().isEmpty());
    }

    private static String of(Session session) {
        List<Session.ThreadFiles> threads = session.threads();
        List<Session.Merged> merged = list(session.merged());
        boolean isIgnored = session.manifestError().isPresent();
        session.manifestError().ifPresent(System.err::println);
        String verdict = "recover";
        if (isRejected(session)) {
            verdict = "reject";
        } else if (!isIgnored && threads.stream().allMatch(Session.ThreadFiles::isWhole)) {
            verdict = "accept";
        }
        return """
                {"kind":"session","verdict":"%s","threads":%s,"derived":{"manifest":"%s",\
                "event_count":"%d","detail_count":"%d",\
                "time_start_ns":%s,"time_end_ns":%s,"merged":%s}}"""
                .formatted(
                        verdict,
                        threads.stream().map(Testee::of).toList(),
                        session.manifest().isPresent() ? "used" : isIgnored ? "ignored" : "absent",
                        threads.stream().flatMap(own -> own.index().stream())
                                .mapToLong(IndexFile::count).sum(),
                        threads.stream().flatMap(own -> own.detail().stream())
                                .mapToLong(own -> list(own).size()).sum(),
                        merged.isEmpty() ? "null" : time(merged.get(0)),
                        merged.isEmpty() ? "null" : time(merged.get(merged.size() - 1)),
                        merged.stream()
                                .map(own -> "[%d,\"%d\"]".formatted(own.threadId(), own.seq()))
                                .collect(Collectors.joining(",", "[", "]")));
    }

    private static String time(Session.Merged event) {
        return '"' + Long.toUnsignedString(event.event().timestampNs()) + '"';
    }

    /** A document, and whether its verdict is reject. */
    private record Answer(String document, boolean isRejected) {}

    private static Answer read(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            Session session = Session.open(path);
            return new Answer(of(session), isRejected(session));
        }
        byte[] data = Files.readAllBytes(path);
        boolean isDetail = path.endsWith("detail.atf")
                || new String(data, StandardCharsets.ISO_8859_1).startsWith("ATD2");
        try {
            Source source = Source.of(path.toString(), data);
            String document = isDetail ? of(new DetailFile(source)) : of(new IndexFile(source));
            return new Answer(document, false);
        } catch (FormatException refused) {
            return new Answer(rejected(isDetail ? "detail" : "index"), true);
        }
    }

    /** Returns the fields of a record, from its name, its wire version and its bytes in hex. */
    private static String accessors(String line) {
        String[] words = line.split(" ");
        String name = Arrays.stream(words[0].split("_"))
                .map(own -> own.substring(0, 1).toUpperCase() + own.substring(1))
                .collect(Collectors.joining());
        ByteBuffer data = ByteBuffer.wrap(HexFormat.of().parseHex(words[2]))
                .order(ByteOrder.LITTLE_ENDIAN);
        try {
            Object record = Class.forName("atf.format.Records$" + name)
                    .getMethod("view", ByteBuffer.class, int.class, int.class)
                    .invoke(null, data, 0, Integer.parseInt(words[1]));
            return "{\"fields\":%s}".formatted(record);
        } catch (ReflectiveOperationException unknown) {
            throw new IllegalArgumentException(line, unknown);
        }
    }

    /** Parses a string in JSON, which the kit sends. */
    private static String unquoted(String line) {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < line.length() - 1; i++) {
            char own = line.charAt(i);
            if (own == '\\') {
                own = line.charAt(++i);
                if (own == 'u') {
                    own = (char) Integer.parseInt(line.substring(i + 1, i + 5), 16);
                    i += 4;
                }
            }
            text.append(own);
        }
        return text.toString();
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 2 && arguments[0].equals("read")) {
            Answer answer = read(Path.of(arguments[1]));
            System.out.println(answer.document);
            System.exit(answer.isRejected ? 1 : 0);
        } else if (arguments.length == 1 && !arguments[0].equals("read")) {
            var input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
            var lines = new BufferedReader(input);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                boolean isPath = arguments[0].equals("serve");
                System.out.println(isPath ? read(Path.of(unquoted(line))).document : accessors(line));
            }
        } else {
            System.err.println("usage: testee read PATH | testee serve | testee accessors");
            System.exit(2);
        }
    }
}
