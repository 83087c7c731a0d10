package witness

import (
	"errors"
	"io"
	"net/http"
	"strconv"
)

// mostBytes is far above any checkpoint with a proof.
const mostBytes = 16 << 10

// ServeHTTP answers POST /add-checkpoint (c2sp.org/tlog-witness).
func (w *Witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/add-checkpoint":
		http.NotFound(out, r)
		return
	case r.Method != http.MethodPost:
		out.Header().Set("Allow", http.MethodPost)
		http.Error(out, "POST it", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, mostBytes))
	if err != nil {
		http.Error(out, "the request is broken off, or longer than any checkpoint", http.StatusBadRequest)
		return
	}
	line, err := w.addText(string(body))
	if err != nil {
		refuse(out, err)
		return
	}
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(out, line) // the client may be gone
}

func (w *Witness) addText(body string) (string, error) {
	old, proof, signed, err := parse(body)
	if err != nil {
		return "", err
	}
	return w.Add(old, proof, signed)
}

func refuse(out http.ResponseWriter, err error) {
	if behind, is := errors.AsType[*Behind](err); is {
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(out, strconv.FormatInt(behind.Size, 10)+"\n")
		return
	}
	for known, status := range map[error]int{
		ErrMalformed: http.StatusBadRequest, ErrUnknown: http.StatusNotFound,
		ErrUnsigned: http.StatusForbidden, ErrFork: http.StatusUnprocessableEntity,
	} {
		if errors.Is(err, known) {
			http.Error(out, err.Error(), status)
			return
		}
	}
	http.Error(out, "the witness cannot keep what it cosigns", http.StatusInternalServerError)
}
