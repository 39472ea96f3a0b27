// Package doctor looks whether this machine has what the commands need: folders that can be written, room on the
// disk, certificates, a proxy, a clock that is right.
package doctor
