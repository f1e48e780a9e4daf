"""General knowledge that most sites do not hold: questions whose right answer is that the documents do not say."""

OFF_TOPICS = (
    "What is the capital of Australia?",
    "How many bones does an adult human have?",
    "Who painted the ceiling of the Sistine Chapel?",
    "At what temperature does water boil at sea level?",
    "How far is the Moon from the Earth?",
    "Who wrote The Brothers Karamazov?",
    "What is the longest river in South America?",
    "How do I bake a sourdough loaf?",
    "When did the Western Roman Empire fall?",
    "What is the chemical symbol for potassium?",
    "How many players does a rugby union team have on the field?",
    "Which planet has the most moons?",
    "What causes the northern lights?",
    "Who composed The Magic Flute?",
    "How long is a marathon in kilometres?",
    "What is the boiling point of liquid nitrogen?",
    "How do bees make honey?",
    "Who was the first woman to win a Nobel Prize?",
    "Which language has the most native speakers?",
    "How do I remove a red wine stain from a carpet?",
    "What is the tallest mountain in Africa?",
    "When was the Panama Canal opened?",
    "How many strings does a standard violin have?",
    "What is the difference between a crocodile and an alligator?",
    "Who invented the printing press in Europe?",
    "How often should I water a cactus?",
    "What is the square root of 1,764?",
    "Which country won the football World Cup in 1998?",
    "What are the ingredients of a margarita?",
    "How deep is the Mariana Trench?",
)

NAMES = (
    "Marta Ellingsen", "Tobias Wexcombe", "Priya Hallstrom", "Dorian Achterberg", "Selma Kuypers", "Gareth Oduwole",
    "Ilse Vanterpool", "Ruben Castleford",
)  # fmt: skip
"""Invented persons."""

WORDS = ("Brackmoor", "Veltrano", "Ombrix", "Calderwick", "Pinnowell", "Sarnath", "Quorrel", "Tesmond", "Lindquay")
"""Invented names of products, firms and places."""
