package mcp

func (s *Server) addRunTools()  {}
func (s *Server) addResources() {}
func (s *Server) addPrompts()   {}
