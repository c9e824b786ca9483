//go:build !unix

package atf

func mapped(path string) ([]byte, func() error, error) {
	return wholeFile(path)
}
