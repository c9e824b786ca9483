package atf

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object writes a JSON object.
type object struct {
	json []byte
}

func (o *object) put(name, value string) {
	separator := byte(',')
	if len(o.json) == 0 {
		separator = '{'
	}
	o.json = append(o.json, separator)
	o.json = strconv.AppendQuote(o.json, name)
	o.json = append(o.json, ':')
	o.json = append(o.json, value...)
}

func (o *object) number(name string, value uint64) {
	o.put(name, strconv.FormatUint(value, 10))
}

func (o *object) text(name string, value uint64) {
	o.put(name, `"`+strconv.FormatUint(value, 10)+`"`)
}

func widened[T uint16 | uint32 | uint64](values []T) []uint64 {
	wide := make([]uint64, len(values))
	for i, value := range values {
		wide[i] = uint64(value)
	}
	return wide
}

func (o *object) numbers(name string, values []uint64) {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = strconv.FormatUint(value, 10)
	}
	o.put(name, "["+strings.Join(texts, ",")+"]")
}

func (o *object) texts(name string, values []uint64) {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = `"` + strconv.FormatUint(value, 10) + `"`
	}
	o.put(name, "["+strings.Join(texts, ",")+"]")
}

func (o *object) hex(name string, value []byte) {
	o.put(name, `"`+hex.EncodeToString(value)+`"`)
}

func (o *object) nested(name string, value json.Marshaler) {
	// Records can always be marshalled.
	text, _ := value.MarshalJSON()
	o.put(name, string(text))
}

func (o *object) null(name string) {
	o.put(name, "null")
}

func (o *object) end() []byte {
	return append(o.json, '}')
}

// members reads the members of a JSON object. It remembers the path of the first one that is
// missing or invalid.
type members struct {
	all   map[string]any
	wrong string
}

func (o *members) check(path string, isRight bool) {
	if !isRight && o.wrong == "" {
		o.wrong = path
	}
}

func (o *members) require(name string) {
	_, ok := o.all[name]
	o.check(name, ok)
}

// member returns a member, or false if it is missing.
func member[T any](o *members, name string) (T, bool) {
	value, ok := o.all[name]
	own, isType := value.(T)
	o.check(name, isType || !ok)
	return own, ok && isType
}

func required[T any](o *members, name string, value *T) T {
	o.require(name)
	if value == nil {
		value = new(T)
	}
	return *value
}

// pointer returns a pointer to a member that could be parsed, or nil if the member is missing.
func pointer[T any](o *members, name string, value T, ok, isMissing bool) *T {
	if isMissing {
		return nil
	}
	o.check(name, ok)
	return &value
}

func (o *members) text(name string) *string {
	value, ok := member[string](o, name)
	return pointer(o, name, value, true, !ok)
}

func (o *members) bool(name string) *bool {
	value, ok := member[bool](o, name)
	return pointer(o, name, value, true, !ok)
}

func (o *members) uint(name string, minimum, maximum uint64) *uint64 {
	digits, ok := member[json.Number](o, name)
	value, err := strconv.ParseUint(digits.String(), 10, 64)
	return pointer(o, name, value, err == nil && minimum <= value && value <= maximum, !ok)
}

func (o *members) int(name string, minimum, maximum int64) *int64 {
	digits, ok := member[json.Number](o, name)
	value, err := strconv.ParseInt(digits.String(), 10, 64)
	isInt := err == nil && minimum <= value && value <= maximum && digits != "-0"
	return pointer(o, name, value, isInt, !ok)
}

func (o *members) hex(name string) *uint64 {
	text, ok := member[string](o, name)
	digits := strings.TrimPrefix(text, "0x")
	value, err := strconv.ParseUint(digits, 16, 64)
	return pointer(o, name, value, err == nil && digits != text && len(digits) <= 16, !ok)
}

// decoder is a pointer to an object of the manifest.
type decoder[T any] interface {
	*T
	decode(*members)
}

func decoded[T any, P decoder[T]](o *members, path string, all map[string]any) (value T) {
	inner := &members{all: all}
	P(&value).decode(inner)
	o.check(path+"."+inner.wrong, inner.wrong == "")
	return value
}

func nested[T any, P decoder[T]](o *members, name string) *T {
	all, ok := member[map[string]any](o, name)
	if !ok {
		return nil
	}
	value := decoded[T, P](o, name, all)
	return &value
}

func list[T any, P decoder[T]](o *members, name string) []T {
	items, _ := member[[]any](o, name)
	var values []T
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", name, i)
		all, ok := item.(map[string]any)
		o.check(path, ok)
		values = append(values, decoded[T, P](o, path, all))
	}
	return values
}

var errJSON = &FormatError{
	"manifest.json", 0, "manifest", "one JSON object in UTF-8 without duplicate keys", "ATF-MANI-002",
}

// ParseManifest parses the bytes of manifest.json. Keys that the format does not define are ignored.
// The error is a *FormatError, whose Field is the path of the invalid key, such as "threads[0].id".
func ParseManifest(data []byte) (*Manifest, error) {
	// The parser of the standard library replaces bytes that are not UTF-8, and lone surrogates.
	escapes := pairs.ReplaceAll(data, []byte(" "))
	if !utf8.Valid(data) || surrogate.Match(escapes) || !json.Valid(data) {
		return nil, errJSON
	}
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	value, err := parse(tokens)
	all, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, errJSON
	}
	var manifest Manifest
	o := members{all: all}
	manifest.decode(&o)
	if o.wrong != "" {
		return nil, &FormatError{"manifest.json", 0, o.wrong, "a value of the key's type", "ATF-MANI-003"}
	}
	return &manifest, nil
}

var (
	// pairs matches escaped backslashes, and high surrogates with the low ones that follow.
	pairs     = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// parse returns the next value, and an error if an object has a key twice.
func parse(tokens *json.Decoder) (any, error) {
	token, err := tokens.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		var items []any
		for tokens.More() {
			item, err := parse(tokens)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		_, err = tokens.Token()
		return items, err
	case json.Delim('{'):
		all := map[string]any{}
		for tokens.More() {
			name, err := tokens.Token()
			if err != nil {
				return nil, err
			}
			if _, ok := all[name.(string)]; ok {
				return nil, errJSON
			}
			if all[name.(string)], err = parse(tokens); err != nil {
				return nil, err
			}
		}
		_, err = tokens.Token()
		return all, err
	}
	return token, nil
}
