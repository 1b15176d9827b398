/**
 * What shells read when a terminal opens, so that they mark where a prompt begins (A), where typing does (B), where a command's
 * output begins (C) and how the command ended (D): OSC 133, and their folder by OSC 7. The user's own files are read as after a
 * login, and none is changed. The terminal's nonce comes in `MATRX_MARKS`, and the user's own `ZDOTDIR` in `MATRX_ZDOTDIR`.
 */

/**
 * `PS0` is of bash 4.4, so the bash of macOS sends no marks. A prompt may be built anew each time, so the marks are put around it
 * each time. The first one counts prompts: one that is drawn again, as after a change of size, keeps its number.
 * PROMPT_COMMAND can't print it, since bash skips that when a history expansion fails.
 */
const BASH = String.raw`
if [ -n "${"$"}{MATRX_LOGIN-}" ]; then
  unset MATRX_LOGIN
  if [ -r /etc/profile ]; then . /etc/profile; fi
  if [ -r ~/.bash_profile ]; then . ~/.bash_profile
  elif [ -r ~/.bash_login ]; then . ~/.bash_login
  elif [ -r ~/.profile ]; then . ~/.profile
  elif [ -r ~/.bashrc ]; then . ~/.bashrc
  fi
elif [ -r ~/.bashrc ]; then . ~/.bashrc
fi
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __matrx_nonce=$MATRX_MARKS __matrx_ran=0 __matrx_set=x __matrx_prompts=0
  __matrx_before_prompt() {
    local code=$?
    if [ "$__matrx_ran" = 1 ]; then printf '\e]133;D;%s;nonce=%s\a' "$code" "$__matrx_nonce"; fi
    __matrx_ran=0
  }
  __matrx_around_prompt() {
    local here=$PWD
    here=${"$"}{here//%/%25} here=${"$"}{here//#/%23} here=${"$"}{here//\?/%3F}
    printf '\e]7;file://%s%s\a' "$HOSTNAME" "$here"
    case $PS1 in
    *"133;B;nonce=$__matrx_nonce"*) ;;
    *) PS1="\[\e]133;A;\$((__matrx_prompts += 1));nonce=$__matrx_nonce\a\]$PS1\[\e]133;B;nonce=$__matrx_nonce\a\]" ;;
    esac
    # A variable that is set is cut to nothing, which evaluates what counts the characters.
    case ${"$"}{PS0-} in
    *"133;C;nonce="*) ;;
    *) PS0=${"$"}{PS0-}'${"$"}{__matrx_set:0:$((__matrx_ran = 1, 0))}\e]133;C;nonce='$__matrx_nonce'\a' ;;
    esac
  }
  # set -x must not show our own commands.
  __matrx_first='{ __matrx_before_prompt; } 2> /dev/null'
  __matrx_last='{ __matrx_before_prompt; __matrx_around_prompt; } 2> /dev/null'
  if [[ $(declare -p PROMPT_COMMAND 2> /dev/null) == "declare -a"* ]]; then
    PROMPT_COMMAND=("$__matrx_first" "${"$"}{PROMPT_COMMAND[@]}" "$__matrx_last")
  elif ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    # Who sets PROMPT_COMMAND later replaces only the first of them.
    PROMPT_COMMAND=("$__matrx_first${"$"}{PROMPT_COMMAND:+
$PROMPT_COMMAND}" "$__matrx_last")
  else
    PROMPT_COMMAND="$__matrx_first${"$"}{PROMPT_COMMAND:+
$PROMPT_COMMAND}
$__matrx_last"
  fi
  unset __matrx_first __matrx_last
fi
unset MATRX_MARKS
`;

/** zsh reads the rest of its files from the user's own folder, once this one has said where that is. */
const ZSH = String.raw`
if [[ -n ${"$"}{MATRX_ZDOTDIR-} ]]; then ZDOTDIR=$MATRX_ZDOTDIR; else unset ZDOTDIR; fi
typeset -g __matrx_nonce=$MATRX_MARKS __matrx_ran=0 __matrx_hooked=0
unset MATRX_MARKS MATRX_ZDOTDIR
if [[ -o interactive ]]; then
  # set -x must not show our own commands.
  __matrx_before_prompt() {
    { local code=$? here=${"$"}{${"$"}{${"$"}{PWD//\%/%25}//\#/%23}//\?/%3F}; setopt localoptions noxtrace } 2> /dev/null
    if [[ $__matrx_ran == 1 ]]; then printf '\e]133;D;%s;nonce=%s\a' $code $__matrx_nonce; fi
    __matrx_ran=0
    printf '\e]7;file://%s%s\a\e]133;A;nonce=%s\a' $HOST $here $__matrx_nonce
    if [[ $PS1 != *"133;B;nonce=$__matrx_nonce"* ]]; then
      PS1=$PS1$'%{\e]133;B;nonce='$__matrx_nonce$'\a%}'
    fi
    if [[ $__matrx_hooked == 0 ]]; then
      __matrx_hooked=1
      autoload -Uz add-zle-hook-widget && add-zle-hook-widget line-init __matrx_after_prompt
    fi
  }
  # A hook after ours may have made the prompt anew.
  __matrx_after_prompt() {
    { setopt localoptions noxtrace } 2> /dev/null
    if [[ $PS1 != *"133;B;nonce=$__matrx_nonce"* ]]; then printf '\e]133;B;nonce=%s\a' $__matrx_nonce; fi
  }
  __matrx_before_command() {
    { setopt localoptions noxtrace } 2> /dev/null
    __matrx_ran=1
    printf '\e]133;C;nonce=%s\a' $__matrx_nonce
  }
  autoload -Uz add-zsh-hook
  add-zsh-hook precmd __matrx_before_prompt
  add-zsh-hook preexec __matrx_before_command
fi
if [[ -r ${"$"}{ZDOTDIR:-$HOME}/.zshenv ]]; then source ${"$"}{ZDOTDIR:-$HOME}/.zshenv; fi
`;

/** Read after the user's own files. */
const FISH = String.raw`
set -g __matrx_nonce $MATRX_MARKS
set -e MATRX_MARKS
functions -q fish_prompt; or function fish_prompt; printf '> '; end
function __matrx_around_prompt
  string match -q '*__matrx_nonce*' -- (functions fish_prompt); and return
  functions -e __matrx_prompt
  functions -c fish_prompt __matrx_prompt
  function fish_prompt
    printf '\e]133;A;nonce=%s\a' $__matrx_nonce
    __matrx_prompt
    printf '\e]133;B;nonce=%s\a' $__matrx_nonce
  end
end
__matrx_around_prompt
function __matrx_before_command --on-event fish_preexec
  printf '\e]133;C;nonce=%s\a' $__matrx_nonce
end
function __matrx_after_command --on-event fish_postexec
  printf '\e]133;D;%s;nonce=%s\a' $status $__matrx_nonce
  printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
  __matrx_around_prompt
end
`;

/** Written, not run: no machine here has it. */
const POWERSHELL = `
$global:__matrxNonce = $env:MATRX_MARKS
$global:__matrxRan = $false
$global:__matrxPrompt = $function:prompt
Remove-Item Env:MATRX_MARKS
function global:__matrxMark([string] $what) { "$([char]27)]133;$what;nonce=$global:__matrxNonce$([char]7)" }
function global:prompt {
  $succeeded = $?
  $code = if ($succeeded) { 0 } elseif ($global:LASTEXITCODE) { $global:LASTEXITCODE } else { 1 }
  $ended = if ($global:__matrxRan) { __matrxMark "D;$code" } else { '' }
  $global:__matrxRan = $false
  $here = $executionContext.SessionState.Path.CurrentLocation
  $folder = if ($here.Provider.Name -eq 'FileSystem') { "$([char]27)]7;$(([uri] $here.ProviderPath).AbsoluteUri)$([char]7)" } else { '' }
  $ended + $folder + (__matrxMark 'A') + (& $global:__matrxPrompt) + (__matrxMark 'B')
}
if (Get-Command PSConsoleHostReadLine -ErrorAction SilentlyContinue) {
  $global:__matrxReadLine = $function:PSConsoleHostReadLine
  function global:PSConsoleHostReadLine {
    $line = & $global:__matrxReadLine
    if ($line) {
      $global:__matrxRan = $true
      [Console]::Write((__matrxMark 'C'))
    }
    $line
  }
}
`;

/** Files by their names in the folder of scripts. */
export const SHELL_SCRIPTS: Readonly<Record<string, string>> = {
  "bash.sh": BASH,
  "zsh/.zshenv": ZSH,
  "fish.fish": FISH,
  "powershell.ps1": POWERSHELL,
};
