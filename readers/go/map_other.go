//go:build !unix || solaris

package atf

func mapped(path string) ([]byte, func() error, error) {
	return wholeFile(path)
}
