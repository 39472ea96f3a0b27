// Package api contains what the two APIs of OpenAI have in common, and serves /v1/models.
package api
