"""docs/settings.md says what the code does."""

from tests.unit.settings_page import page, settings_classes, written


def test_the_page_is_what_the_code_says() -> None:
    assert written() == page(), "write it anew: python -m tests.unit.settings_page > docs/settings.md"


def test_every_setting_has_help() -> None:
    missing = [
        f"{cls.__name__}.{name}"
        for cls in settings_classes()
        for name, field in cls.model_fields.items()
        if not field.description
    ]
    assert missing == []
