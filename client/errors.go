package client

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"hodl"
)

// refusal turns an answer that is no success into a [*hodl.Error]. One that does
// not carry the API's envelope came from something else: a proxy, another server.
func refusal(answer *http.Response, body []byte) error {
	var envelope struct {
		Err struct {
			Code    hodl.Code
			Message string
			Hint    string
			Fields  []hodl.FieldError
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Err.Code == "" {
		return stranger(answer)
	}
	e := &envelope.Err
	return &hodl.Error{Code: e.Code, Message: e.Message, Hint: e.Hint, Fields: e.Fields, RetryAfter: retryAfter(answer)}
}

func stranger(answer *http.Response) error {
	code := hodl.Internal
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = hodl.Unavailable
	}
	e := hodl.Errorf(code, "%s answered %d, and not as a hodl server does", answer.Request.URL.Host, answer.StatusCode)
	e.RetryAfter = retryAfter(answer)
	return e.WithHint("check the server's address, and what stands in front of it")
}

// retryAfter reads the header in seconds, the one form the API sends.
func retryAfter(answer *http.Response) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(time.Hour/time.Second)*24*31 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
