package testkit

// unscripted is the answer to a request that no script is for. The model's lock is held.
func (m *Model) unscripted(r ModelRequest) []Piece {
	if !r.Authorized {
		return []Piece{JSON(401, errorBody("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"))}
	}
	return []Piece{JSON(404, errorBody("Not found", "invalid_request_error", ""))}
}
