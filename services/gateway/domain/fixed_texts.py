"""Fixed texts in the language of the answers, where the owner has not written his own."""

from services.shared.contracts.profile import FixedTexts, Profile

_OF_LANGUAGE = {
    "de": FixedTexts(
        not_found="Die Dokumente, die mir vorliegen, beantworten das nicht.",
        declined="Ich kann nur Fragen zu den Dokumenten beantworten, die mir vorliegen.",
        topics_intro="Am nächsten kommen diese Themen:",
        writer_away="Ich habe Stellen gefunden, die das beantworten könnten, aber was die Antworten schreibt, "
        "ist gerade nicht erreichbar.",
    ),
    "fr": FixedTexts(
        not_found="Les documents dont je dispose ne répondent pas à cette question.",
        declined="Je ne peux répondre qu'aux questions portant sur les documents dont je dispose.",
        topics_intro="Les sujets les plus proches sont :",
        writer_away="J'ai trouvé des passages qui pourraient répondre, mais ce qui rédige les réponses "
        "n'est pas disponible pour le moment.",
    ),
}


def in_its_language(profile: Profile) -> Profile:
    """The profile with the texts that it leaves out in its own language, where there are any; else in English."""
    defaults = _OF_LANGUAGE.get(profile.language.split("-")[0].casefold())
    if defaults is None:
        return profile
    given = {name: getattr(profile.texts, name) for name in profile.texts.model_fields_set}
    return profile.model_copy(update={"texts": defaults.model_copy(update=given)})
