package detect

import (
	"bytes"
	"crypto/sha256"
	"strings"
)

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Check reports whether v is 21 bytes and their checksum, as addresses of
// Bitcoin are.
func base58Check(v string) bool {
	var out [25]byte
	for i := range len(v) {
		carry := strings.IndexByte(base58, v[i])
		if carry < 0 {
			return false
		}
		for j := len(out) - 1; j >= 0; j-- {
			carry += 58 * int(out[j])
			out[j] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	first := sha256.Sum256(out[:21])
	second := sha256.Sum256(first[:])
	return bytes.Equal(out[21:], second[:4])
}

// bech32 checks the checksum of BIP 173 and BIP 350.
func bech32(v string) bool {
	const set = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	v = strings.ToLower(v)
	n := strings.LastIndexByte(v, '1')
	if n < 1 || n+7 > len(v) {
		return false
	}
	sum := uint32(1)
	for i := range n {
		sum = polymod(sum, uint32(v[i]>>5))
	}
	sum = polymod(sum, 0)
	for i := range n {
		sum = polymod(sum, uint32(v[i]&31))
	}
	for i := n + 1; i < len(v); i++ {
		d := strings.IndexByte(set, v[i])
		if d < 0 {
			return false
		}
		sum = polymod(sum, uint32(d))
	}
	return sum == 1 || sum == 0x2bc830a3
}

func polymod(sum, v uint32) uint32 {
	top := sum >> 25
	sum = sum&0x1ffffff<<5 ^ v
	for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 == 1 {
			sum ^= g
		}
	}
	return sum
}

// weighted returns the sum of the digits of v, each times its weight.
func weighted(v string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(v[i]-'0')
	}
	return sum
}

func luhnText(v string) bool { return luhn([]byte(v)) }
