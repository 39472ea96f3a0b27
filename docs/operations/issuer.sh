#!/bin/sh
# An issuer of access tokens on this machine, to try serve --jwt-issuer: sh issuer.sh FOLDER URL AUDIENCE NAME "SCOPE ..." writes a
# key, and the two documents that the issuer serves at URL, and prints a token of NAME for an hour. It needs OpenSSL 3. It is for
# tests alone: who reads FOLDER signs tokens of any name.
set -eu
umask 077
mkdir -p "$1/public/.well-known"
cd "$1"
base64url() { openssl base64 -A | tr +/ -_ | tr -d =; }
[ -s key.pem ] || openssl genpkey -algorithm ed25519 -out key.pem
public=$(openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | base64url)
printf '{"issuer":"%s","jwks_uri":"%s/jwks.json"}' "$2" "$2" >public/.well-known/openid-configuration
printf '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"test","x":"%s"}]}' "$public" >public/jwks.json
now=$(date +%s)
header=$(printf '{"alg":"EdDSA","typ":"at+jwt","kid":"test"}' | base64url)
claims=$(printf '{"iss":"%s","aud":"%s","sub":"%s","scope":"%s","iat":%d,"exp":%d}' "$2" "$3" "$4" "$5" "$now" $((now + 3600)) | base64url)
printf %s "$header.$claims" >text
echo "$header.$claims.$(openssl pkeyutl -sign -rawin -inkey key.pem -in text | base64url)"
