import { Argument, type Command } from 'commander';
import { renderBash } from '../completion/bash.ts';
import { renderFish } from '../completion/fish.ts';
import { completedCommands } from '../completion/model.ts';
import { renderZsh } from '../completion/zsh.ts';

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
type Shell = keyof typeof renderers;

/** `completion`; `all` gives the whole command line, which the program reads only in parts. */
export function addCompletionCommand(program: Command, all: () => Promise<Command>): void {
  program
    .command('completion')
    .description('print a script that lets the shell complete commands, options and their values')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(renderers)))
    .addHelpText(
      'after',
      `
bash: source <(outrider completion bash)        in ~/.bashrc
zsh:  source <(outrider completion zsh)         in ~/.zshrc, after compinit
fish: outrider completion fish > ~/.config/fish/completions/outrider.fish`,
    )
    .action(async (shell: Shell) => {
      process.stdout.write(renderers[shell](completedCommands(await all())));
    });
}
