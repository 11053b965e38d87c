"""Resources (documents by address) and prompts."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from pydantic import Field

from clawmem.app.interfaces.mcp.calling import ToolServer
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.errors import InvalidInput

ADDRESS = "clawmem://{+path}"


def add_resources(server: ToolServer, dispatcher: Dispatcher) -> None:
    """Register every document as the resource ``clawmem://collection/path``."""

    @server.resource(ADDRESS, name="document", title="A document of the vault", mime_type="text/markdown")
    async def document(path: str) -> str:
        """Read a document as a whole: clawmem://collection/path. Texts of others are quoted."""
        try:
            excerpt = await dispatcher.read(
                lambda services: services.lookup.get(f"clawmem://{unquote(path)}")
            )
        except InvalidInput as error:
            raise ResourceNotFoundError(str(error)) from error
        origin = excerpt.document.origin
        return "\n".join(lines_to_read(without_orders(excerpt.text, origin), origin))


def add_prompts(server: ToolServer) -> None:
    """Register the prompts, from a single question to everything about a topic."""

    @server.prompt(title="Recall")
    def recall(
        topic: Annotated[str, Field(description="The topic.")],
    ) -> str:
        """Search once, and answer from the result or not at all."""
        return (
            f"What do my notes say about {topic}? Call memory_retrieve once. If the answer begins "
            "with No confident answer or has no results, tell me so and stop. Otherwise answer in a few sentences and name the files."
        )

    @server.prompt(title="Why is it so")
    def why(
        decision: Annotated[str, Field(description="A decision, or a state of things.")],
    ) -> str:
        """Trace a decision back to its reasons."""
        return (
            f"Why {decision}? Call intent_search with force_intent WHY; then find_causal_links on the document that "
            "fits best, and timeline if the order matters. Tell what led to what, with a file for each step, and say "
            "what is not written down."
        )

    @server.prompt(title="Everything about")
    def dossier(
        topic: Annotated[str, Field(description="The topic.")],
    ) -> str:
        """Collect everything about a topic, in steps, as long as something is open."""
        return (
            f"Collect what the vault knows about {topic}. First query_plan. Then, for what is still open, vsearch with "
            "other words, find_similar on the best document, and kg_query for the people and things it names. Stop "
            "when a step brings nothing new. Report what is certain, what has changed, and what contradicts what."
        )

    @server.prompt(title="Where were we")
    def resume() -> str:
        """Resume the last session."""
        return (
            "Where were we? Call session_log with limit 3 and get the handoff of the last session. Say in five lines "
            "what was done, what was decided and what is open; then ask where to go on."
        )
