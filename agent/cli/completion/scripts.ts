/**
 * What each shell is told: to ask `matrx complete` with the words as they stand. Nothing that was typed is evaluated, and a
 * name from elsewhere is put onto the command line as one word: devices name their tools as they like. Zsh and fish quote
 * by themselves.
 */

const BASH = `_matrx() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done < <(
    matrx complete "--current=\${COMP_WORDS[COMP_CWORD]}" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null
  )
}
complete -o default -F _matrx matrx`;

const ZSH = `#compdef matrx
_matrx() {
  local -a candidates
  candidates=("\${(@f)$(matrx complete "--current=$words[CURRENT]" -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  compadd -- $candidates
}
if [ "$funcstack[1]" = _matrx ]; then _matrx; else compdef _matrx matrx; fi`;

const FISH = `complete --command matrx --no-files --arguments \\
  '(matrx complete "--current="(commandline --current-token) -- (commandline --tokenize --cut-at-cursor --current-process)[2..] 2>/dev/null)'`;

/** Written from documents, not run. */
const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName matrx -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -ne '') { $words = @($words | Select-Object -SkipLast 1) }
  matrx complete "--current=$wordToComplete" -- @words 2>$null |
    ForEach-Object {
      $text = if ($_ -match '^[\\w./:-]+$') { $_ } else { "'" + ($_ -replace "['\\u2018-\\u201b]", '$0$0') + "'" }
      [System.Management.Automation.CompletionResult]::new($text)
    }
}`;

export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const;
export type ShellName = keyof typeof COMPLETION_SCRIPTS;
