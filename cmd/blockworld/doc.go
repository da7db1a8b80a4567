// Command blockworld runs Minecraft: Java Edition bots that build schematics, each placement proven by the server's own
// packets and receipted.
//
// One file per subcommand; this package alone joins bot, sentinel, journal and fixtures. Exit codes: 0 done, 1 failed,
// 2 bad usage or input, 3 denied by Sentinel or policy, 4 something stayed unverified.
package main
