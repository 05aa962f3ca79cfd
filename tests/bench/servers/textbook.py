"""Contacts as a textbook builds them: FastAPI, async SQLAlchemy, a session and a commit a call.

`python textbook.py FILE PORT ROWS` begins with so many contacts. One worker of uvicorn, with
httptools and uvloop.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import JSON, event, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

TOKEN = "bench-token"
T = TypeVar("T")

engine = create_async_engine(f"sqlite+aiosqlite:///{sys.argv[1]}")
sessions = async_sessionmaker(engine, expire_on_commit=False)


@event.listens_for(engine.sync_engine, "connect")
def _as_durable_as_ours(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


class Base(DeclarativeBase):
    """All tables."""


class Contact(Base):
    """One contact."""

    __tablename__ = "contacts"

    id: Mapped[int] = mapped_column(primary_key=True)
    first_name: Mapped[str | None]
    middle_name: Mapped[str | None]
    last_name: Mapped[str | None]
    meta_name: Mapped[str | None]
    number: Mapped[str] = mapped_column(unique=True)
    country_code: Mapped[str]
    wa_phone_id: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    created_by: Mapped[str]
    updated_by: Mapped[str]
    ai_mode: Mapped[str]
    tags: Mapped[list[str]] = mapped_column(JSON)


class ContactIn(BaseModel):
    """The body of a create."""

    number: str = Field(pattern="^[0-9]+$")
    country_code: str = Field(pattern=r"^\+[0-9]+$")
    name: str | None = None


class ContactId(BaseModel):
    """What a create answers."""

    id: int


class ContactOut(BaseModel):
    """A contact as lists show it."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    meta_name: str | None
    number: str
    country_code: str
    wa_phone_id: str
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str
    ai_mode: str
    tags: list[str]


class Pagination(BaseModel):
    """Where a page stands in its list."""

    page: int
    pageSize: int
    totalCount: int
    totalPages: int


class Envelope(BaseModel, Generic[T]):
    """The shell round every answer."""

    success: bool = True
    statusCode: int = 200
    message: str | None = None
    data: T
    pagination: Pagination | None = None


async def session() -> AsyncIterator[AsyncSession]:
    """A session for one request."""
    async with sessions() as one:
        yield one


async def check(given: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> None:
    """Refuse a token that is not ours."""
    if given.credentials != TOKEN:
        raise HTTPException(401)


def contact(body: ContactIn) -> Contact:
    """A new contact."""
    first, _, last = (body.name or "").partition(" ")
    now = datetime.now(UTC)
    return Contact(
        first_name=first or None,
        last_name=last or None,
        number=body.number,
        country_code=body.country_code,
        wa_phone_id=f"104{body.number}",
        created_at=now,
        updated_at=now,
        created_by="Sandbox user",
        updated_by="Sandbox user",
        ai_mode="ai_paused",
        tags=[],
    )


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Make the table and its first rows."""
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with sessions() as session:
        for number in range(int(sys.argv[3])):
            body = ContactIn(number=f"{number:010}", country_code="+1", name="Anna Maria Lopez")
            session.add(contact(body))
        await session.commit()
    yield


app = FastAPI(lifespan=lifespan, dependencies=[Depends(check)])
Session = Annotated[AsyncSession, Depends(session)]
CONTACTS = "/api/business/public/channels/chat/accounts/{account_id}/contacts"


@app.post(CONTACTS, status_code=201, response_model=Envelope[ContactId])
async def create(account_id: int, body: ContactIn, session: Session) -> Any:
    """Create a contact."""
    new = contact(body)
    session.add(new)
    try:
        await session.commit()
    except IntegrityError as error:
        raise HTTPException(409, "An active contact has this number") from error
    return Envelope(statusCode=201, message="Contact created", data=ContactId(id=new.id))


@app.get(CONTACTS, response_model=Envelope[list[ContactOut]])
async def page(
    account_id: int,
    session: Session,
    page: Annotated[int, Query(ge=1)] = 1,
    size: Annotated[int, Query(ge=1, le=100, alias="pageSize")] = 10,
) -> Any:
    """One page of contacts."""
    total = await session.scalar(select(func.count()).select_from(Contact)) or 0
    rows = select(Contact).order_by(Contact.id).offset((page - 1) * size).limit(size)
    found = (await session.scalars(rows)).all()
    return {
        "data": found,
        "pagination": Pagination(
            page=page, pageSize=size, totalCount=total, totalPages=-(-total // size)
        ),
    }


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[2]), loop="uvloop", http="httptools", log_level="error")
