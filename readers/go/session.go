package atf

import (
	"container/heap"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
)

// Session contains the threads of a traced process.
type Session struct {
	// Folder is the path of the folder with the threads' folders.
	Folder string

	// Threads contains the threads by their ids.
	Threads []*Thread

	// Manifest is the parsed manifest.json, or nil if it is absent or cannot be used.
	Manifest *Manifest

	// ManifestErr describes why manifest.json cannot be used, or is nil.
	ManifestErr error
}

// Thread contains a thread's files.
type Thread struct {
	// ID is the id of the thread, from its folder's name.
	ID uint32

	// Index is the index, or nil if it is absent or refused.
	Index *IndexFile

	// Detail is the detail file, or nil if it is absent or refused.
	Detail *DetailFile

	// Refused contains an error for each file that cannot be read.
	Refused []*FormatError
}

// SessionEvent is an event of a session, with its thread and its position there.
type SessionEvent struct {
	ThreadID uint32
	Seq      int
	Event    IndexEvent
}

var (
	processName = regexp.MustCompile(`^pid_[0-9]+$`)
	threadName  = regexp.MustCompile(`^thread_([0-9]+)$`)
)

// OpenSession opens a session's folder, or a folder that contains the folder of one process. An
// invalid file is not an error, but is listed in its thread's Refused. Close frees the memory of
// all files. An invalid manifest is not an error either: see ManifestErr.
func OpenSession(folder string, options ...Option) (*Session, error) {
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	if process := onlyProcess(names); process != "" {
		folder = filepath.Join(folder, process)
		if names, err = namesIn(folder); err != nil {
			return nil, err
		}
	}
	s := &Session{Folder: folder}
	for _, name := range names {
		parts := threadName.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		if id, err := strconv.ParseUint(parts[1], 10, 32); err == nil {
			thread, err := openThread(uint32(id), filepath.Join(folder, name), options)
			s.Threads = append(s.Threads, thread)
			if err != nil {
				s.Close()
				return nil, err
			}
		}
	}
	sort.SliceStable(s.Threads, func(i, j int) bool { return s.Threads[i].ID < s.Threads[j].ID })
	s.Manifest, s.ManifestErr = readManifest(filepath.Join(folder, "manifest.json"))
	return s, nil
}

// readManifest returns nil without an error if there is no manifest.
func readManifest(path string) (*Manifest, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if !isRegular(path) {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseManifest(data)
}

// namesIn returns the names of the files in a folder, sorted.
func namesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, err
}

// onlyProcess returns the name of the only process, if the folder itself is not a session.
func onlyProcess(names []string) string {
	process := ""
	for _, name := range names {
		switch {
		case name == "manifest.json" || threadName.MatchString(name):
			return ""
		case !processName.MatchString(name):
		case process != "":
			return ""
		default:
			process = name
		}
	}
	return process
}

func openThread(id uint32, folder string, options []Option) (*Thread, error) {
	t := &Thread{ID: id}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return t, nil
	}
	var err error
	if path := filepath.Join(folder, "index.atf"); isRegular(path) {
		t.Index, err = OpenIndexFile(path, options...)
		if err = t.refuse(err); err != nil {
			return t, err
		}
	}
	path := filepath.Join(folder, "detail.atf")
	if isRegular(path) {
		t.Detail, err = OpenDetailFile(path, options...)
		if err = t.refuse(err); err != nil {
			return t, err
		}
	}
	if t.Index != nil && t.Detail != nil && t.Index.Wire() != t.Detail.Wire() {
		expected := fmt.Sprintf("%d, as in index.atf", t.Index.Wire())
		t.Refused = append(t.Refused, t.Detail.refuse(0, t.Detail.places.headerVersion, "detail header, version", expected, "ATF-LINK-008"))
		t.Detail.Close()
		t.Detail = nil
	}
	return t, nil
}

// isRegular returns whether a regular file exists. A symlink may lead out of the session.
func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// refuse stores a format error, and returns any other error.
func (t *Thread) refuse(err error) error {
	var refused *FormatError
	if errors.As(err, &refused) {
		t.Refused = append(t.Refused, refused)
		return nil
	}
	return err
}

// IsWhole returns whether each existing file was finalized, and no event is missing.
func (t *Thread) IsWhole() bool {
	if t.Index == nil || !t.Index.IsFinalized() || len(t.Refused) > 0 {
		return false
	}
	return !t.Index.HasHoles() && (t.Detail == nil || t.Detail.IsFinalized())
}

// LooseLinks counts the links without a link back, in the index and in the details.
func (t *Thread) LooseLinks() (dangling, orphans int) {
	forward := map[uint64]uint64{}
	if t.Index != nil {
		events := t.Index.Events()
		for seq := 0; seq < events.Len(); seq++ {
			if detail, ok := events.At(seq).DetailSeq(); ok && !t.Index.IsHole(seq) {
				forward[uint64(seq)] = detail
			}
		}
	}
	var back []uint64
	if t.Detail != nil {
		for events := t.Detail.Events(); events.Next(); {
			back = append(back, events.Event().IndexSeq())
		}
	}
	for seq, to := range forward {
		if to >= uint64(len(back)) || back[to] != seq {
			dangling++
		}
	}
	for seq, to := range back {
		if detail, ok := forward[to]; !ok || detail != uint64(seq) {
			orphans++
		}
	}
	return dangling, orphans
}

// Merged returns an iterator over the events of all threads by time, then by thread and position,
// without holes. It keeps no events in memory:
//
//	for events := session.Merged(); events.Next(); {
//		event := events.Event()
//	}
func (s *Session) Merged() *MergedEvents {
	m := &MergedEvents{}
	for _, thread := range s.Threads {
		if thread.Index != nil {
			m.add(thread.ID, thread.Index)
		}
	}
	heap.Init(&m.runs)
	return m
}

// MergedEvents is an iterator over the events of a session.
type MergedEvents struct {
	runs  runs
	event SessionEvent
}

// add divides a thread into runs.
func (m *MergedEvents) add(id uint32, file *IndexFile) {
	events, before, latest := file.Events(), len(m.runs), uint64(0)
	for seq := 0; seq < events.Len(); seq++ {
		if file.IsHole(seq) {
			continue
		}
		time := events.At(seq).TimestampNs()
		if len(m.runs) == before || time < latest {
			m.runs = append(m.runs, run{file, events, time, id, len(m.runs), seq, seq})
		}
		m.runs[len(m.runs)-1].last, latest = seq, time
	}
}

// Next advances to the next event, and returns false after the last one.
func (m *MergedEvents) Next() bool {
	if len(m.runs) == 0 {
		return false
	}
	r := &m.runs[0]
	m.event = SessionEvent{r.id, r.seq, r.events.At(r.seq)}
	if r.seq == r.last {
		heap.Pop(&m.runs)
		return true
	}
	for r.seq++; r.file.IsHole(r.seq); {
		r.seq++
	}
	r.time = r.events.At(r.seq).TimestampNs()
	heap.Fix(&m.runs, 0)
	return true
}

// Event returns the event to which Next advanced.
func (m *MergedEvents) Event() SessionEvent {
	return m.event
}

// run is successive events of a thread whose times do not decrease: usually all of them.
type run struct {
	file   *IndexFile
	events IndexEvents
	time   uint64
	id     uint32
	rank   int
	seq    int
	last   int
}

// runs is a heap of runs by their next event. Their ranks are in the order of threads and positions.
type runs []run

func (r runs) Len() int      { return len(r) }
func (r runs) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(own any) { *r = append(*r, own.(run)) }

func (r runs) Less(i, j int) bool {
	return r[i].time < r[j].time || r[i].time == r[j].time && r[i].rank < r[j].rank
}

func (r *runs) Pop() any {
	last := len(*r) - 1
	own := (*r)[last]
	*r = (*r)[:last]
	return own
}

// Close frees the memory of all files. Their records must no longer be used.
func (s *Session) Close() error {
	var first error
	for _, thread := range s.Threads {
		if thread.Index != nil {
			first = firstOf(first, thread.Index.Close())
		}
		if thread.Detail != nil {
			first = firstOf(first, thread.Detail.Close())
		}
	}
	return first
}

func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
