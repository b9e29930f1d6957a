"""One small, sound request of each wire: parallel calls, a single call, texts between them, tools declared.

The requests follow the documentation of each provider.
"""

CHAT = """
{"model": "m", "max_tokens": 99, "messages": [
 {"role": "system", "content": "Be brief."},
 {"role": "user", "content": [{"type": "text", "text": "Compare Paris and Lyon."}]},
 {"role": "assistant", "content": "", "tool_calls": [
  {"id": "aB3dE6gH9", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}},
  {"id": "bB3dE6gH9", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Lyon\\"}"}}]},
 {"role": "tool", "tool_call_id": "aB3dE6gH9", "content": "18 degrees"},
 {"role": "tool", "tool_call_id": "bB3dE6gH9", "content": "20 degrees"},
 {"role": "assistant", "content": "Lyon is warmer."},
 {"role": "user", "content": "And Nice?"},
 {"role": "assistant", "content": "", "tool_calls": [
  {"id": "cB3dE6gH9", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Nice\\"}"}}]},
 {"role": "tool", "tool_call_id": "cB3dE6gH9", "content": "24 degrees"},
 {"role": "assistant", "content": "Nice is the warmest."},
 {"role": "user", "content": "Thanks."}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}
"""
ANTHROPIC = """
{"model": "claude-sonnet-4-5", "max_tokens": 99, "system": "Be brief.", "messages": [
 {"role": "user", "content": [{"type": "text", "text": "Compare Paris and Lyon."}]},
 {"role": "assistant", "content": [
  {"type": "thinking", "thinking": "I must look.", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk="},
  {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"city": "Paris"}},
  {"type": "tool_use", "id": "toolu_02", "name": "get_weather", "input": {"city": "Lyon"}}]},
 {"role": "user", "content": [
  {"type": "tool_result", "tool_use_id": "toolu_01", "content": "18 degrees"},
  {"type": "tool_result", "tool_use_id": "toolu_02", "content": "20 degrees"}]},
 {"role": "assistant", "content": [{"type": "text", "text": "Lyon is warmer."}]},
 {"role": "user", "content": "And Nice?"},
 {"role": "assistant", "content": [
  {"type": "text", "text": "I will look."},
  {"type": "tool_use", "id": "toolu_03", "name": "get_weather", "input": {"city": "Nice"}}]},
 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_03", "content": "24 degrees"}]},
 {"role": "assistant", "content": [{"type": "text", "text": "Nice is the warmest."}]},
 {"role": "user", "content": "Thanks."}],
 "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]}
"""
BEDROCK = """
{"modelId": "anthropic.claude-3-5-sonnet-20241022-v2:0", "messages": [
 {"role": "user", "content": [{"text": "Compare Paris and Lyon."}]},
 {"role": "assistant", "content": [
  {"toolUse": {"toolUseId": "tooluse_01", "name": "get_weather", "input": {"city": "Paris"}}},
  {"toolUse": {"toolUseId": "tooluse_02", "name": "get_weather", "input": {"city": "Lyon"}}}]},
 {"role": "user", "content": [
  {"toolResult": {"toolUseId": "tooluse_01", "content": [{"text": "18 degrees"}]}},
  {"toolResult": {"toolUseId": "tooluse_02", "content": [{"text": "20 degrees"}]}}]},
 {"role": "assistant", "content": [{"text": "Lyon is warmer."}]},
 {"role": "user", "content": [{"text": "And Nice?"}]},
 {"role": "assistant", "content": [
  {"text": "I will look."},
  {"toolUse": {"toolUseId": "tooluse_03", "name": "get_weather", "input": {"city": "Nice"}}}]},
 {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_03", "content": [{"text": "24 degrees"}]}}]},
 {"role": "assistant", "content": [{"text": "Nice is the warmest."}]},
 {"role": "user", "content": [{"text": "Thanks."}]}],
 "inferenceConfig": {"maxTokens": 99},
 "toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": {"type": "object"}}}}]}}
"""
GEMINI = """
{"model": "gemini-3-pro-preview", "contents": [
 {"role": "user", "parts": [{"text": "Compare Paris and Lyon."}]},
 {"role": "model", "parts": [
  {"functionCall": {"id": "x1", "name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": "CrUEAdHt"},
  {"functionCall": {"id": "x2", "name": "get_weather", "args": {"city": "Lyon"}}}]},
 {"role": "user", "parts": [
  {"functionResponse": {"id": "x1", "name": "get_weather", "response": {"result": "18 degrees"}}},
  {"functionResponse": {"id": "x2", "name": "get_weather", "response": {"result": "20 degrees"}}}]},
 {"role": "model", "parts": [{"text": "Lyon is warmer."}]},
 {"role": "user", "parts": [{"text": "And Nice?"}]},
 {"role": "model", "parts": [
  {"functionCall": {"id": "x3", "name": "get_weather", "args": {"city": "Nice"}}, "thoughtSignature": "CrUEAdHu"}]},
 {"role": "user", "parts": [
  {"functionResponse": {"id": "x3", "name": "get_weather", "response": {"result": "24 degrees"}}}]},
 {"role": "model", "parts": [{"text": "Nice is the warmest."}]},
 {"role": "user", "parts": [{"text": "Thanks."}]}],
 "generationConfig": {}, "tools": [{"functionDeclarations": [{"name": "get_weather"}]}]}
"""
RESPONSES = """
{"model": "gpt-5", "store": false, "input": [
 {"role": "user", "content": "Compare Paris and Lyon."},
 {"type": "function_call", "call_id": "call_01", "name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"},
 {"type": "function_call", "call_id": "call_02", "name": "get_weather", "arguments": "{\\"city\\": \\"Lyon\\"}"},
 {"type": "function_call_output", "call_id": "call_01", "output": "18 degrees"},
 {"type": "function_call_output", "call_id": "call_02", "output": "20 degrees"},
 {"role": "assistant", "content": "Lyon is warmer."},
 {"role": "user", "content": "And Nice?"},
 {"type": "function_call", "call_id": "call_03", "name": "get_weather", "arguments": "{\\"city\\": \\"Nice\\"}"},
 {"type": "function_call_output", "call_id": "call_03", "output": "24 degrees"},
 {"role": "assistant", "content": "Nice is the warmest."},
 {"role": "user", "content": "Thanks."}],
 "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}]}
"""
