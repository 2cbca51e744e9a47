/** The scripts that complete command lines in bash, zsh and fish. */
import type { Completion, Values, Word } from '../cli/completions.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script of a shell. It asks cvrsync only for names of connections. */
export const scriptOf = (shell: Shell, completions: readonly Completion[]): string => SCRIPTS[shell](completions);

/** One arm of a case: patterns, and the lines to print. */
type Arm = readonly [pattern: string, lines: readonly string[]];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const arms = (completions: readonly Completion[]) => ({
  commands: (write: (word: Word) => string): readonly Arm[] =>
    completions.flatMap(({ path, commands }) => (commands.length === 0 ? [] : [[path, commands.map(write)]])),
  options: (write: (word: Word) => string): readonly Arm[] =>
    completions.map(({ path, options }) => [path, options.map(write)]),
  values: completions.flatMap(({ path, options }): Arm[] =>
    options.flatMap(({ word, values }) => (values === undefined ? [] : [[`${path} ${word}`, valueLines(values)]])),
  ),
  args: completions.flatMap(({ path, args }): Arm[] =>
    args.flatMap(({ values, isMany }, index) =>
      values === 'any' ? [] : [[isMany ? `${path} *` : `${path} ${index}`, valueLines(values)]],
    ),
  ),
});

const valueLines = (values: Values): readonly string[] => (typeof values === 'string' ? [`@${values}`] : values);

/** A function of bash and zsh that sets REPLY to the lines for a pattern. Runs at each key, so starts no process. */
const posixCase = (name: string, rows: readonly Arm[]): string =>
  [
    `_cvrsync_${name}() {`,
    '  case "$1" in',
    ...rows.map(([pattern, lines]) => {
      const match = pattern.endsWith(' *') ? `${quoted(pattern.slice(0, -1))}*` : quoted(pattern);
      return `    ${match}) REPLY=${quoted(lines.join('\n'))} ;;`;
    }),
    "    *) REPLY='' ;;",
    '  esac',
    '}',
  ].join('\n');

const firstLine = (about: string): string => about.replaceAll(/\s+/gu, ' ');

function posixData(completions: readonly Completion[], write: (word: Word) => string): string {
  const { commands, options, values, args } = arms(completions);
  return [
    posixCase('commands', commands(write)),
    posixCase('options', options(write)),
    posixCase('values', values),
    posixCase('argument', args),
  ].join('\n');
}

/** Finds the command, and the argument at the cursor. `$@`: the words before it. Sets `at`, `args` and `config`. */
const POSIX_WALK = `_cvrsync_walk() {
  at=''; args=0; config=''
  local word line='
'
  while [ $# -gt 0 ]; do
    word="$1"; shift
    case "$word" in
      --config=*) config="\${word#--config=}" ;;
      --*=*) ;;
      --*)
        _cvrsync_values "$at $word"
        if [ -n "$REPLY" ] && [ $# -gt 0 ]; then
          [ "$1" = '=' ] && shift
          [ "$word" = --config ] && config="$1"
          [ $# -gt 0 ] && shift
        fi ;;
      *)
        _cvrsync_commands "$at"
        case "$line$REPLY$line" in
          *"$line$word:"*|*"$line$word$line"*) at="\${at:+$at }$word" ;;
          *) args=$((args + 1)) ;;
        esac ;;
    esac
  done
}
_cvrsync_words() {
  _cvrsync_values "$at $2"
  [ -n "$REPLY" ] && return
  case "$1" in
    -*) _cvrsync_options "$at" ;;
    *)
      local commands
      _cvrsync_commands "$at"; commands="$REPLY"
      _cvrsync_argument "$at $args"
      REPLY="$commands\${commands:+\${REPLY:+
}}$REPLY" ;;
  esac
}
_cvrsync_connections() {
  if [ -n "$2" ]; then "$1" --config "$2" completion connections; else "$1" completion connections; fi 2>/dev/null
}`;

const bash = (
  completions: readonly Completion[],
): string => `# bash completion of cvrsync. In ~/.bashrc: eval "$(cvrsync completion bash)"
${posixData(completions, ({ word }) => word)}
${POSIX_WALK}
_cvrsync() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" at args config REPLY IFS=$'\n'
  if [ "$current" = '=' ]; then current=''
  elif [ "$before" = '=' ]; then before="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  _cvrsync_walk "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  _cvrsync_words "$current" "$before"
  case "$REPLY" in
    @any) return ;;
    @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    *@connections) REPLY="\${REPLY%@connections}$(_cvrsync_connections "\${COMP_WORDS[0]}" "$config")" ;;
  esac
  COMPREPLY=($(compgen -W "$REPLY" -- "$current"))
}
complete -F _cvrsync cvrsync
`;

const zsh = (completions: readonly Completion[]): string => `#compdef cvrsync
# zsh completion of cvrsync. In ~/.zshrc, after compinit: eval "$(cvrsync completion zsh)"
${posixData(completions, ({ word, about }) => `${word}:${firstLine(about)}`)}
${POSIX_WALK}
_cvrsync() {
  emulate -L zsh
  local at args config REPLY
  local -a found
  _cvrsync_walk "\${(@)words[2,CURRENT - 1]}"
  _cvrsync_words "\${words[CURRENT]}" "\${words[CURRENT - 1]}"
  case "$REPLY" in
    @any|'') return ;;
    @files) _files; return ;;
    *@connections) REPLY="\${REPLY%@connections}$(_cvrsync_connections "\${words[1]}" "$config")" ;;
  esac
  found=("\${(@f)REPLY}")
  _describe cvrsync found
}
compdef _cvrsync cvrsync
`;

/** A function of fish that prints the lines for a pattern. */
const fishCase = (name: string, rows: readonly Arm[]): string =>
  [
    `function __cvrsync_${name}`,
    '  switch "$argv[1]"',
    ...rows.flatMap(([pattern, lines]) => [
      `    case ${fishQuoted(pattern)}`,
      `      printf '%s\\n' ${lines.map(fishQuoted).join(' ')}`,
    ]),
    '  end',
    'end',
  ].join('\n');

const fishQuoted = (text: string): string => `'${text.replaceAll(/['\\]/gu, '\\$&')}'`;

function fish(completions: readonly Completion[]): string {
  const { commands, options, values, args } = arms(completions);
  const write = ({ word, about }: Word): string => `${word}\t${firstLine(about)}`;
  return `# fish completion of cvrsync: cvrsync completion fish > ~/.config/fish/completions/cvrsync.fish
${fishCase('commands', commands(write))}
${fishCase('options', options(write))}
${fishCase('values', values)}
${fishCase('argument', args)}
function __cvrsync
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l program $before[1]
  set -l at ''
  set -l count 0
  set -l config
  set -l waits ''
  for word in $before[2..-1]
    if test -n "$waits"
      test "$waits" = --config; and set config --config $word
      set waits ''
    else if string match -q -- '--*=*' $word
      string match -q -- '--config=*' $word; and set config $word
    else if string match -q -- '--*' $word
      test -n "$(__cvrsync_values "$at $word")"; and set waits $word
    else if __cvrsync_commands "$at" | string match -qr -- "^$word\\t"
      set at (string trim -- "$at $word")
    else
      set count (math $count + 1)
    end
  end
  set -l words
  if test -n "$waits"
    set words (__cvrsync_values "$at $waits")
  else if string match -q -- '-*' $current
    set words (__cvrsync_options "$at")
  else
    set words (__cvrsync_commands "$at") (__cvrsync_argument "$at $count")
  end
  for word in $words
    switch $word
      case @any
      case @files
        __fish_complete_path $current
      case @connections
        $program $config completion connections 2>/dev/null
      case '*'
        printf '%s\\n' $word
    end
  end
end
complete -c cvrsync -f -a '(__cvrsync)'
`;
}

const SCRIPTS: Readonly<Record<Shell, (completions: readonly Completion[]) => string>> = { bash, zsh, fish };
