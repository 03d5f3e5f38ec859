// The command `docker compose`, for a machine whose package of the engine has none. Compose is published as a plugin of the
// command `docker`: here it has a command of its own.
package main

import (
	"fmt"
	"os"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/flags"
	commands "github.com/docker/compose/v2/cmd/compose"
	"github.com/docker/compose/v2/pkg/compose"
	"github.com/spf13/cobra"
)

func run() error {
	cli, err := command.NewDockerCli()
	if err != nil {
		return err
	}
	if err := cli.Initialize(flags.NewClientOptions()); err != nil {
		return err
	}
	root := &cobra.Command{Use: "docker", SilenceUsage: true, SilenceErrors: true, TraverseChildren: true}
	root.AddCommand(commands.RootCommand(cli, compose.NewComposeService(cli).(commands.Backend)))
	return root.Execute()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
