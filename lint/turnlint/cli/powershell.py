"""Provide the completion script of PowerShell, which click does not support.

The command receives the words of the line, one on each line. It returns the type, the value and a description
of each completion, separated by tabs.
"""

import os

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

NAME = "powershell"
_SCRIPT = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = $commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition }
    $words = $before | ForEach-Object { if ($_.Value -is [string]) { $_.Value } else { $_.Extent.Text } }
    $env:COMP_WORDS = $words -join "`n"
    $env:COMP_CWORD = $wordToComplete
    $env:%(complete_var)s = 'powershell_complete'
    try {
        & %(prog_name)s | ForEach-Object {
            $kind, $value, $about = $_ -split "`t", 3
            if ($kind -eq 'plain') {
                if (-not $about) { $about = $value }
                [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
            } else {
                [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            }
        }
    } finally {
        Remove-Item Env:COMP_WORDS, Env:COMP_CWORD, Env:%(complete_var)s -ErrorAction SilentlyContinue
    }
}
"""


class PowerShell(ShellComplete):
    """Input and output of a completion in PowerShell."""

    name = NAME
    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        # PowerShell does not set an empty variable.
        return os.environ.get("COMP_WORDS", "").split("\n")[1:], os.environ.get("COMP_CWORD", "")

    def format_completion(self, item: CompletionItem) -> str:
        about = " ".join((item.help or "").split())
        return f"{item.type}\t{item.value}\t{about}"


add_completion_class(PowerShell)
