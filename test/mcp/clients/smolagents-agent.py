"""An agent of SmolAgents with a scripted model: writes a file, reads it with a call that leaves options out."""

import os
import sys

from mcp import StdioServerParameters
from smolagents import CodeAgent, Model, ToolCallingAgent, ToolCollection
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)


class Scripted(Model):
    def __init__(self, steps):
        super().__init__(model_id="scripted")
        self.steps = list(steps)

    def generate(self, messages, **options):
        step = self.steps.pop(0)
        if isinstance(step, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=step)
        name, arguments = step
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id="call", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])


file, *command = sys.argv[1:]
program = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
with ToolCollection.from_mcp(program, trust_remote_code=True, structured_output=False) as collection:
    tools = [*collection.tools]
    code = f"""<code>
Write(file_path={file!r}, content="written by an agent")
final_answer(Bash(command="cat {file}"))
</code>"""
    print("CODE:", CodeAgent(tools=tools, model=Scripted([code]), max_steps=1).run("Write it"))
    steps = [("Read", {"file_path": file}), ("final_answer", {"answer": "read it"})]
    agent = ToolCallingAgent(tools=tools, model=Scripted(steps), max_steps=2)
    print("CALLED:", agent.run("Read it"))
    print("SAW:", agent.memory.steps[1].observations)
