// Package lab tests lastword with what other projects made: clients, servers and browsers. It measures, and judges
// what generate writes. It is a separate module, so that who imports lastword needs none of their libraries.
package lab
