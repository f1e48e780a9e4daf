"""Units of measure under the names that texts give them."""

from decimal import Decimal

_TABLE = (
    ("%", "1", "% percent percentage pct prozent"),
    ("s", "0.001", "ms millisecond milliseconds msec"),
    ("s", "1", "s sec secs second seconds sekunde sekunden"),
    ("s", "60", "min mins minute minutes minuten"),
    ("s", "3600", "h hr hrs hour hours stunde stunden"),
    ("day", "1", "day days tag tage tagen"),
    ("day", "7", "week weeks woche wochen"),
    ("month", "1", "month months monat monate monaten"),
    ("month", "12", "year years yr yrs jahr jahre jahren"),
    ("m", "0.001", "mm millimetre millimetres millimeter millimeters"),
    ("m", "0.01", "cm centimetre centimetres centimeter centimeters"),
    ("m", "1", "m metre metres meter meters"),
    ("m", "1000", "km kilometre kilometres kilometer kilometers"),
    ("mile", "1", "mi mile miles meile meilen"),
    ("foot", "1", "ft foot feet"),
    ("inch", "1", "inch inches"),
    ("g", "0.001", "mg milligram milligrams"),
    ("g", "1", "g gram grams gramm"),
    ("g", "1000", "kg kilo kilos kilogram kilograms"),
    ("pound", "1", "lb lbs"),
    ("l", "0.001", "ml millilitre millilitres milliliter milliliters"),
    ("l", "1", "l litre litres liter liters"),
    ("°C", "1", "°c celsius"),
    ("°F", "1", "°f fahrenheit"),
    ("€", "1", "€ eur euro euros"),
    ("$", "1", "$ usd dollar dollars"),
    ("£", "1", "£ gbp pound pounds"),
    ("KB", "1", "kb kilobyte kilobytes"),
    ("MB", "1", "mb megabyte megabytes"),
    ("GB", "1", "gb gigabyte gigabytes"),
    ("TB", "1", "tb terabyte terabytes"),
    ("W", "1", "w watt watts"),
    ("W", "1000", "kw kilowatt kilowatts"),
)
UNITS: dict[str, tuple[str, Decimal]] = {}
"""The unit that a name stands for, in lower case, and how many of them it is: an hour is 3600 seconds."""
for _unit, _factor, _names in _TABLE:
    UNITS |= {name: (_unit, Decimal(_factor)) for name in _names.split()}
STRICT_UNITS = frozenset({"%", "€", "$", "£"})
"""A number without a unit is something else than one of these."""
