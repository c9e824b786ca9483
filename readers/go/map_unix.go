//go:build unix && !solaris

package atf

import (
	"os"
	"syscall"
)

// small is the size in bytes below which files are read: a process can map only about 65,000.
const small = 1 << 16

// mapped returns a file's bytes, and a function that frees them.
func mapped(path string) ([]byte, func() error, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() < small || !info.Mode().IsRegular() {
		return wholeFile(path)
	}
	size := int(info.Size())
	if int64(size) != info.Size() {
		return nil, nil, &os.PathError{Op: "mmap", Path: path, Err: syscall.EFBIG}
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err == syscall.ENODEV { // the file system has no mappings
		return wholeFile(path)
	}
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
