//go:build unix

package atf

import (
	"os"
	"syscall"
)

// mapped returns a file's bytes, and what frees them.
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
	size := int(info.Size())
	if size == 0 || int64(size) != info.Size() || !info.Mode().IsRegular() {
		return wholeFile(path)
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return wholeFile(path)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
